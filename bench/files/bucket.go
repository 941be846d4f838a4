package main

import (
	"os"
	"path/filepath"
	"time"
)

// An objectStore is a program of others that keeps files in a folder.
type objectStore struct {
	name, path string // path is below the cache of test tools
	words      func(program, addr, data string) []string
}

func versity() objectStore {
	return objectStore{"versitygw 1.8.0", "versitygw-1.8.0/versitygw", func(program, addr, data string) []string {
		return []string{program, "--access", "key", "--secret", "secretsecret", "--keep-alive", "--quiet", "--port", addr, "posix", data}
	}}
}

func minio() objectStore {
	return objectStore{"MinIO of 12 February 2026", "minio-v0.0.0-20260212201848-7aac2a2c5b7c/minio", func(program, addr, data string) []string {
		return []string{"env", "MINIO_ROOT_USER=key", "MINIO_ROOT_PASSWORD=secretsecret", program, "server", "--quiet", "--address", addr, data}
	}}
}

const storeBucket = "kept"

var storeKeys = []string{"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secretsecret"}

// bucketRows returns the loads of the goals of files in a bucket.
//
// The object store's own rate is that of files/client, which asks it for the same files by as many
// connections, directly by minio-go. It asks muster by plain HTTP, and all run on the same processors.
func (b *bench) bucketRows() []row {
	store := versity()
	over := func(client ...string) contestant { return b.gateway(store, client, "") }
	folder := contestant{name: "a folder", quiet: true, command: func(p place) ([]string, error) {
		return b.serveCommand(b.muster, b.engines[0], p, "--data", filepath.Join(p.folder, "muster")), nil
	}}
	named := folder
	named.client = []string{"-to", "raw", "-digests"}
	hit := b.gateway(store, named.client, "copies")

	bounded := func(operation string) []goal {
		return []goal{threadsOf(operation), {operation: operation, figure: "memory MiB", of: memory, form: "%.0f"}, rateOf(operation, 0)}
	}
	return []row{
		b.slowRow("bucket-slow", store, 64, 5),
		b.slowRow("bucket-slow-500", store, 500, 5),
		b.cpuRow("bucket-cpu", store),
		{"bucket-copies", store, load{disk: pageDisk, connections: 64, requests: 2000, size: "50K", duration: time.Second}, 5,
			[]goal{rateOf(download, 0.9), {operation: download, figure: "CPU ms", of: cpu, form: "%.3f"}}, []contestant{hit, named}},
		{"bucket-500", store, load{disk: pageDisk, connections: 500, requests: 2000, size: "50K"}, 5, append(bounded(upload), bounded(download)...), []contestant{over(), folder}},
		{"bucket-5000", store, load{disk: pageDisk, connections: 5000, requests: 6000, size: "50K"}, 5, append(bounded(upload), bounded(download)...), []contestant{over(), folder}},
		b.slowRow("minio-slow", minio(), 64, 3),
		b.cpuRow("minio-cpu", minio()),
	}
}

// slowRow measures rates over an object store on a slow disk.
func (b *bench) slowRow(name string, s objectStore, connections, rounds int) row {
	goals := []goal{rateOf(upload, 0.9), p99Of(upload, false), rateOf(download, 0.9), p99Of(download, false)}
	return row{name, s, load{disk: slowDisk, connections: connections, requests: 1000, size: "50K"}, rounds, goals,
		[]contestant{b.gateway(s, []string{"-to", "http"}, ""), b.objectStore(s, "-to", "s3", "-bucket", storeBucket)}}
}

// cpuRow measures the CPU of a request over an object store in memory.
func (b *bench) cpuRow(name string, s objectStore) row {
	most := func(operation string) goal {
		return goal{operation: operation, figure: "CPU ms", of: cpu, form: "%.3f", most: 1.5}
	}
	loop, whole := b.objectStore(s, "-to", "s3", "-bucket", storeBucket), b.objectStore(s, "-to", "s3-whole", "-bucket", storeBucket)
	loop.name, loop.own = "minio-go alone", true
	whole.name, whole.own = "minio-go alone, bodies signed whole", true
	return row{name, s, load{disk: pageDisk, connections: 64, requests: 1500, size: "50K", duration: time.Second}, 5,
		[]goal{most(upload), rateOf(upload, 0), most(download), rateOf(download, 0)},
		[]contestant{b.gateway(s, []string{"-to", "raw"}, ""), loop, whole}}
}

// objectStore is an object store itself.
func (b *bench) objectStore(s objectStore, client ...string) contestant {
	return contestant{name: s.name, quiet: true, client: client, command: func(p place) ([]string, error) {
		data := filepath.Join(p.folder, "store")
		if err := os.MkdirAll(filepath.Join(data, storeBucket), 0o755); err != nil {
			return nil, err
		}
		return s.words(b.program(s), p.addr, data), nil
	}}
}

// program returns the path of an object store's program, which scripts/object-stores installs.
func (b *bench) program(s objectStore) string { return filepath.Join(b.cache, s.path) }

// gateway is muster over an object store, with copies in a folder beside it if that has a name.
func (b *bench) gateway(s objectStore, client []string, copies string) contestant {
	store := b.objectStore(s)
	return contestant{name: "muster", quiet: true, store: &store, client: client, command: func(p place) ([]string, error) {
		more := []string{"--data", "s3://" + storeBucket, "--endpoint", "http://" + p.store}
		if copies != "" {
			more = append(more, "--cache", filepath.Join(p.folder, copies), "--cache-max", "1G")
		}
		return append(append([]string{"env"}, storeKeys...), b.serveCommand(b.muster, b.engines[0], p, more...)...), nil
	}}
}
