package main

import (
	"os"
	"path/filepath"
	"time"
)

// The object store of the benchmark: a program of others that keeps files in a folder.
const (
	storeName   = "versitygw 1.8.0"
	storePath   = "versitygw-1.8.0/versitygw" // below the cache of test tools
	storeBucket = "kept"
)

var storeKeys = []string{"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secretsecret"}

// bucketRows returns the loads of the goals of files in a bucket.
//
// The object store's own rate is that of files/client, which asks it for the same files by as many
// connections, directly by minio-go. It asks muster by plain HTTP, and all run on the same processors.
func (b *bench) bucketRows() []row {
	over := func(client ...string) contestant { return b.gateway(client, "") }
	store := b.objectStore("-to", "s3", "-bucket", storeBucket)
	loop, whole := store, b.objectStore("-to", "s3-whole", "-bucket", storeBucket)
	loop.name, loop.own = "minio-go alone", true
	whole.name, whole.own = "minio-go alone, bodies signed whole", true
	folder := contestant{name: "a folder", quiet: true, command: func(p place) ([]string, error) {
		return b.serveCommand(b.muster, b.engines[0], p, "--data", filepath.Join(p.folder, "muster")), nil
	}}
	named := folder
	named.client = []string{"-to", "raw", "-digests"}
	hit := b.gateway(named.client, "copies")

	rates := []goal{rateOf(upload, 0.9), p99Of(upload, false), rateOf(download, 0.9), p99Of(download, false)}
	most := func(operation string) goal {
		return goal{operation: operation, figure: "CPU ms", of: cpu, form: "%.3f", most: 1.5}
	}
	bounded := func(operation string) []goal {
		return []goal{threadsOf(operation), {operation: operation, figure: "memory MiB", of: memory, form: "%.0f"}, rateOf(operation, 0)}
	}
	return []row{
		{"bucket-slow", load{disk: slowDisk, connections: 64, requests: 1000, size: "50K"}, 5, rates, []contestant{over("-to", "http"), store}},
		{"bucket-slow-500", load{disk: slowDisk, connections: 500, requests: 1000, size: "50K"}, 5, rates, []contestant{over("-to", "http"), store}},
		{"bucket-cpu", load{disk: pageDisk, connections: 64, requests: 1500, size: "50K", duration: time.Second}, 5,
			[]goal{most(upload), rateOf(upload, 0), most(download), rateOf(download, 0)}, []contestant{over("-to", "raw"), loop, whole}},
		{"bucket-copies", load{disk: pageDisk, connections: 64, requests: 2000, size: "50K", duration: time.Second}, 5,
			[]goal{rateOf(download, 0.9), {operation: download, figure: "CPU ms", of: cpu, form: "%.3f"}}, []contestant{hit, named}},
		{"bucket-500", load{disk: pageDisk, connections: 500, requests: 2000, size: "50K"}, 5, append(bounded(upload), bounded(download)...), []contestant{over(), folder}},
		{"bucket-5000", load{disk: pageDisk, connections: 5000, requests: 6000, size: "50K"}, 5, append(bounded(upload), bounded(download)...), []contestant{over(), folder}},
	}
}

// objectStore is the object store itself.
func (b *bench) objectStore(client ...string) contestant {
	return contestant{name: storeName, quiet: true, client: client, command: func(p place) ([]string, error) {
		data := filepath.Join(p.folder, "store")
		if err := os.MkdirAll(filepath.Join(data, storeBucket), 0o755); err != nil {
			return nil, err
		}
		return []string{b.store(), "--access", "key", "--secret", "secretsecret", "--keep-alive", "--quiet", "--port", p.addr, "posix", data}, nil
	}}
}

// store is the program, which scripts/object-stores installs.
func (b *bench) store() string { return filepath.Join(b.cache, storePath) }

// gateway is muster over the object store, with copies in a folder beside it if that has a name.
func (b *bench) gateway(client []string, copies string) contestant {
	store := b.objectStore()
	return contestant{name: "muster", quiet: true, store: &store, client: client, command: func(p place) ([]string, error) {
		more := []string{"--data", "s3://" + storeBucket, "--endpoint", "http://" + p.store}
		if copies != "" {
			more = append(more, "--cache", filepath.Join(p.folder, copies), "--cache-max", "1G")
		}
		return append(append([]string{"env"}, storeKeys...), b.serveCommand(b.muster, b.engines[0], p, more...)...), nil
	}}
}
