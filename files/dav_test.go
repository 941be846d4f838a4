package files_test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"muster/fileio/direct"
	"muster/files"
)

// found is an answer to PROPFIND, as a client reads it: by the names of the standard, whatever
// the prefixes.
type found struct {
	Responses []struct {
		Href     string    `xml:"DAV: href"`
		Folder   *struct{} `xml:"DAV: propstat>prop>resourcetype>collection"`
		Size     string    `xml:"DAV: propstat>prop>getcontentlength"`
		ETag     string    `xml:"DAV: propstat>prop>getetag"`
		Modified string    `xml:"DAV: propstat>prop>getlastmodified"`
		Status   string    `xml:"DAV: propstat>status"`
	} `xml:"DAV: response"`
}

// find returns one line for each entry of an answer.
func find(t *testing.T, url, depth string) (lines []string) {
	t.Helper()
	got := ask(t, "PROPFIND", url, nil, "Depth", depth)
	if got.status != http.StatusMultiStatus {
		t.Fatalf("PROPFIND %s: %d %s", url, got.status, got.body)
	}
	var f found
	if err := xml.Unmarshal([]byte(got.body), &f); err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
	for _, r := range f.Responses {
		if _, err := http.ParseTime(r.Modified); err != nil || r.Status != "HTTP/1.1 200 OK" {
			t.Errorf("%+v", r)
		}
		if r.Folder != nil {
			lines = append(lines, r.Href)
		} else {
			lines = append(lines, r.Href+" "+r.Size)
		}
	}
	return lines
}

func TestPropfind(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{})
	for name, body := range map[string]string{"a/b/one": "1", "a/b/c/two": "22", "a/b/c/three": "", "a/b/d/%26%20x": "4444", "a/b-e": "55555", "z": ""} {
		ask(t, "PUT", url+"/files/"+name, strings.NewReader(body))
	}
	for _, c := range []struct{ path, depth, want string }{
		{"a/b/", "1", "/files/a/b/, /files/a/b/c/, /files/a/b/d/, /files/a/b/one 1"},
		{"a/b/", "0", "/files/a/b/"},
		{"a/b", "1", "/files/a/b/, /files/a/b/c/, /files/a/b/d/, /files/a/b/one 1"},
		{"a/b/d/", "1", "/files/a/b/d/, /files/a/b/d/&%20x 4"},
		{"a/b/one", "0", "/files/a/b/one 1"},
		{"a/b/one", "1", "/files/a/b/one 1"},
		{"", "1", "/files/, /files/a/, /files/z 0"},
		{"no/such/folder/", "1", "/files/no/such/folder/"}, // each folder exists
	} {
		if got := strings.Join(find(t, url+"/files/"+c.path, c.depth), ", "); got != c.want {
			t.Errorf("depth %s of %q:\n%s\nnot\n%s", c.depth, c.path, got, c.want)
		}
	}
	// The tag and the time are those of a GET.
	var f found
	if err := xml.Unmarshal([]byte(ask(t, "PROPFIND", url+"/files/z", nil, "Depth", "0").body), &f); err != nil {
		t.Fatal(err)
	}
	get := ask(t, "GET", url+"/files/z", nil)
	if one := f.Responses[0]; one.ETag != get.header.Get("ETag") || one.Modified != get.header.Get("Last-Modified") {
		t.Errorf("%+v, and a GET has %v", one, get.header)
	}
	for _, c := range []struct {
		path, depth string
		want        int
	}{
		{"a/none", "0", 404},
		{"a/b", "infinity", 403},
		{"a/b", "", 403},
		{"a/../b", "0", 400},
		{"a//", "0", 400},
	} {
		if got := ask(t, "PROPFIND", url+"/files/"+c.path, nil, "Depth", c.depth); got.status != c.want {
			t.Errorf("depth %q of %q: %d %s", c.depth, c.path, got.status, got.body)
		}
	}
}

// A folder with more files than the server lists at a time is complete, and so is one with many
// files in a folder in it.
func TestPropfindPages(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{})
	want := []string{"/files/many/"}
	for i := range 230 {
		ask(t, "PUT", fmt.Sprintf("%s/files/many/%03d", url, i), nil)
		want = append(want, fmt.Sprintf("/files/many/%03d 0", i))
		if i == 150 {
			want = append(want, "/files/many/150x/")
		}
		ask(t, "PUT", fmt.Sprintf("%s/files/many/150x/%d", url, i), nil)
	}
	if got := find(t, url+"/files/many/", "1"); !slices.Equal(got, want) {
		t.Errorf("%d entries, not %d: %q", len(got), len(want), got)
	}
}

func TestMkcol(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{})
	ask(t, "PUT", url+"/files/a/file", strings.NewReader("1"))
	for _, c := range []struct {
		path, body string
		want       int
	}{
		{"new/", "", 201},
		{"a/new", "", 201},
		{"a/", "", 405},
		{"a", "", 405},
		{"a/file/", "", 405},
		{"", "", 405},
		{"new/", "body", 415},
		{"../new/", "", 400},
	} {
		got := ask(t, "MKCOL", url+"/files/"+c.path, strings.NewReader(c.body))
		if got.status != c.want || got.status == 405 && got.header.Get("Allow") == "" {
			t.Errorf("MKCOL %q with %q: %d %s %v", c.path, c.body, got.status, got.body, got.header)
		}
	}
}

// Each method that OPTIONS lists is possible, and no other: nothing else of WebDAV is.
func TestOptions(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{})
	all := []string{"OPTIONS", "PROPFIND", "MKCOL", "HEAD", "PUT", "GET", "DELETE", "POST", "PATCH", "COPY", "MOVE", "LOCK", "UNLOCK", "PROPPATCH"}
	for _, path := range []string{"", "folder/", "name"} {
		got := ask(t, "OPTIONS", url+"/files/"+path, nil)
		allowed := strings.Split(got.header.Get("Allow"), ", ")
		if got.status != 204 || got.header.Get("DAV") != "" {
			t.Errorf("OPTIONS of %q: %d %v", path, got.status, got.header)
		}
		for _, method := range all {
			status := ask(t, method, url+"/files/"+path, nil, "Depth", "0").status
			refused := status == 405 || status == 400 // 400: a folder's name is no file's
			if listed := slices.Contains(allowed, method); listed == refused {
				t.Errorf("%s of %q: %d, and OPTIONS lists %q", method, path, status, allowed)
			}
		}
	}
}

func TestDavWantsToken(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{Tokens: []string{"secret"}})
	for _, method := range []string{"OPTIONS", "PROPFIND", "MKCOL"} {
		if got := ask(t, method, url+"/files/a/", nil, "Depth", "0"); got.status != 401 {
			t.Errorf("%s without a token: %d", method, got.status)
		}
	}
}
