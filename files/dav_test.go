package files_test

import (
	"encoding/xml"
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

func TestPropfind(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{})
	for name, body := range map[string]string{"a/b/one": "1", "a/b/d/%26%20x": "4444", "z": ""} {
		ask(t, "PUT", url+"/files/"+name, strings.NewReader(body))
	}
	for _, c := range []struct{ path, depth, want string }{
		{"a/b/", "0", "/files/a/b/"},
		{"a/b/d/%26%20x", "0", "/files/a/b/d/&%20x 4"},
		{"a/b/one", "1", "/files/a/b/one 1"},
		{"", "0", "/files/"},
		{"no/such/folder/", "0", "/files/no/such/folder/"}, // each folder exists
	} {
		got := ask(t, "PROPFIND", url+"/files/"+c.path, nil, "Depth", c.depth)
		var f found
		if err := xml.Unmarshal([]byte(got.body), &f); err != nil || got.status != http.StatusMultiStatus || len(f.Responses) != 1 {
			t.Fatalf("%d, %v in %s", got.status, err, got.body)
		}
		one := f.Responses[0]
		line := one.Href
		if one.Folder == nil {
			line += " " + one.Size
		}
		if _, err := http.ParseTime(one.Modified); err != nil || one.Status != "HTTP/1.1 200 OK" || line != c.want {
			t.Errorf("%+v, want %s", one, c.want)
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
		{"a/b/", "1", 403},
		{"a/b/", "infinity", 403},
		{"a/b/one", "", 403},
		{"a/../b", "0", 400},
		{"a//", "0", 400},
	} {
		if got := ask(t, "PROPFIND", url+"/files/"+c.path, nil, "Depth", c.depth); got.status != c.want {
			t.Errorf("depth %q of %q: %d %s", c.depth, c.path, got.status, got.body)
		}
	}
}

func TestMkcol(t *testing.T) {
	url := serve(t, &direct.Engine{}, files.Options{})
	for _, c := range []struct {
		path, body string
		want       int
	}{
		{"new/", "", 201},
		{"new/", "body", 415},
		{"../new/", "", 400},
	} {
		got := ask(t, "MKCOL", url+"/files/"+c.path, strings.NewReader(c.body))
		if got.status != c.want {
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
