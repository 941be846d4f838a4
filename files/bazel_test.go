package files_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"testing"

	"muster/fileio/direct"
	"muster/files"
)

// An exchange is a request of Bazel with the expected answer.
type exchange struct {
	method, path, body string
	status             int
	want               string
}

// What Bazel 4.2.3 (Debian's bazel-bootstrap) sent to --remote_cache=http://HOST/files/bazel
// for a genrule of one file: first it builds and keeps the results, then, in a new output
// base, it has them from here ("1 remote cache hit").
func recorded() []exchange {
	const (
		action = "/files/bazel/ac/83932d4148dd009d75450309f237abd5104c7ac0fca042e862f074900d54ac07"
		output = "/files/bazel/cas/3b09aeb6f5f5336beb205d7f720371bc927cd46c21922e334d47ba264acb5ba4"
		result = "\x12j\n\"bazel-out/k8-fastbuild/bin/out.txt\x12D\n@3b09aeb6f5f5336beb205d7f720371bc927cd46c21922e334d47ba264acb5ba4\x10\x062B\n@e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855BB\n@e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	)
	return []exchange{
		{"GET", action, "", 404, ""},
		{"PUT", output, "HELLO\n", 204, ""},
		{"PUT", action, result, 204, ""},
		{"GET", action, "", 200, result},
		{"GET", output, "", 200, "HELLO\n"},
	}
}

// Its heads are in lower case and differ between methods; one connection is used for all.
func TestBazel(t *testing.T) {
	c := raw(t, serve(t, &direct.Engine{}, files.Options{}), "")
	answers := bufio.NewReader(c)
	for _, e := range recorded() {
		head := fmt.Sprintf("%s %s HTTP/1.1\r\nhost: 127.0.0.1:9999\r\n", e.method, e.path)
		if e.method == "PUT" {
			head += fmt.Sprintf("accept: */*\r\ncontent-length: %d\r\nconnection: keep-alive\r\n", len(e.body))
		} else {
			head += "connection: keep-alive\r\naccept: */*\r\naccept-encoding: gzip\r\n"
		}
		if _, err := io.WriteString(c, head+"user-agent: bazel/\r\n\r\n"+e.body); err != nil {
			t.Fatal(err)
		}
		got, err := http.ReadResponse(answers, &http.Request{Method: e.method})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(got.Body)
		if err != nil || got.StatusCode != e.status || e.want != "" && string(body) != e.want {
			t.Errorf("%s %s: %s, %q, %v", e.method, e.path, got.Status, body, err)
		}
		if got.Close {
			t.Error("the connection was closed")
		}
	}
}
