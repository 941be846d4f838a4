// Package dav answers the methods of WebDAV (RFC 4918) that a cache's clients need beside those
// of HTTP: OPTIONS, PROPFIND and MKCOL. Files cannot be locked, copied or moved here, so no
// answer claims a class of WebDAV.
//
// The store has no folders. A folder is the beginning of names, up to a slash: each one exists,
// and MKCOL creates nothing. The package must not change files.
package dav

import (
	"context"
	"encoding/xml"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"muster/fileio"
)

// A Store has the methods of a fileio.Store that a Handler needs.
type Store interface {
	Stat(ctx context.Context, name string) (fileio.Info, error)
	List(ctx context.Context, prefix, after string, most int) (infos []fileio.Info, more bool, err error)
}

// Handler answers requests about the files of a store.
type Handler struct {
	Store Store

	// Link returns the path of a file's name, or of a folder's name with its slash.
	Link func(name string) string

	// Fail answers a request that failed. Abort breaks off an answer that has begun.
	Fail  func(http.ResponseWriter, *http.Request, error)
	Abort func(*http.Request, error)
}

// Methods of WebDAV that net/http does not name.
const (
	methodPropfind = "PROPFIND"
	methodMkcol    = "MKCOL"
)

// Handles reports whether a Handler answers this method.
func Handles(method string) bool {
	return method == http.MethodOptions || method == methodPropfind || method == methodMkcol
}

// Allowed returns the methods that are possible with a name, as the header Allow has them. The
// name of a folder ends with a slash. The empty name is the folder of all files.
func Allowed(name string) string {
	switch {
	case name == "":
		return "OPTIONS, GET, HEAD, PROPFIND"
	case isFolder(name):
		return "OPTIONS, PROPFIND, MKCOL"
	}
	return "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, MKCOL"
}

func isFolder(name string) bool { return name == "" || strings.HasSuffix(name, "/") }

// Serve answers a request about a file, or about a folder.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, name string) {
	if name != "" {
		if err := fileio.CheckName(strings.TrimSuffix(name, "/")); err != nil {
			h.Fail(w, r, err)
			return
		}
	}
	switch r.Method {
	case methodPropfind:
		h.propfind(w, r, name)
	case methodMkcol:
		h.mkcol(w, r, name)
	default:
		w.Header().Set("Allow", Allowed(name))
		w.WriteHeader(http.StatusNoContent)
	}
}

// mkcol accepts a new folder, which exists already.
func (h *Handler) mkcol(w http.ResponseWriter, r *http.Request, name string) {
	if r.ContentLength != 0 {
		http.Error(w, "MKCOL takes no body", http.StatusUnsupportedMediaType)
		return
	}
	used := name == ""
	if !used {
		file := strings.TrimSuffix(name, "/")
		_, err := h.Store.Stat(r.Context(), file)
		if used = err == nil; !used && errors.Is(err, fs.ErrNotExist) {
			used, err = h.hasFiles(r, file+"/")
		}
		if err != nil {
			h.Fail(w, r, err)
			return
		}
	}
	if used {
		w.Header().Set("Allow", Allowed(name))
		http.Error(w, "this name is used already", http.StatusMethodNotAllowed)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

func (h *Handler) hasFiles(r *http.Request, folder string) (bool, error) {
	infos, _, err := h.Store.List(r.Context(), folder, "", 1)
	return len(infos) > 0, err
}

// propfind describes a file, or a folder and, with a depth of 1, what is directly in it. The
// body of the request does not matter: the answer has all properties.
func (h *Handler) propfind(w http.ResponseWriter, r *http.Request, name string) {
	depth := r.Header.Get("Depth")
	if depth != "0" && depth != "1" { // missing = infinity
		http.Error(w, "PROPFIND has a depth of 0 or 1 here: a GET of "+h.Link("")+"?prefix= lists what is deeper", http.StatusForbidden)
		return
	}
	if !isFolder(name) {
		info, err := h.Store.Stat(r.Context(), name)
		if err == nil {
			a := answer{w: w}
			h.Abort(r, errors.Join(a.add(h.file(info)), a.end()))
			return
		}
		found := false
		if errors.Is(err, fs.ErrNotExist) {
			if isUsed, e := h.hasFiles(r, name+"/"); isUsed || e != nil {
				found, err = isUsed, e
			}
		}
		if !found {
			h.Fail(w, r, err)
			return
		}
		name += "/"
	}
	h.folder(w, r, name, depth == "1")
}

// pageMax is how many files one call of the store lists. A folder's files are all described
// in one answer, one page after another.
const pageMax = 100

// folder describes a folder and, with inside, what is directly in it.
func (h *Handler) folder(w http.ResponseWriter, r *http.Request, name string, inside bool) {
	a := answer{w: w}
	if !inside {
		h.Abort(r, errors.Join(a.add(h.folderEntry(name)), a.end()))
		return
	}
	after, sub := "", "" // sub is the folder inside that was described last
	for more := true; more; {
		var infos []fileio.Info
		var err error
		if infos, more, err = h.Store.List(r.Context(), name, after, pageMax); err != nil && !a.begun {
			h.Fail(w, r, err)
			return
		}
		if !a.begun {
			err = a.add(h.folderEntry(name))
		}
		for _, info := range infos {
			if err != nil {
				break
			}
			if after = info.Name; sub != "" && strings.HasPrefix(after, sub) {
				after = sub + "\xff" // behind all names in it
				continue
			}
			first, _, deeper := strings.Cut(info.Name[len(name):], "/")
			if !deeper {
				err = a.add(h.file(info))
				continue
			}
			sub = name + first + "/"
			after = sub + "\xff"
			err = a.add(h.folderEntry(sub))
		}
		h.Abort(r, err)
	}
	h.Abort(r, a.end())
}

// A response describes one file or folder, in the words of WebDAV.
type response struct {
	XMLName  xml.Name  `xml:"D:response"`
	Href     string    `xml:"D:href"`
	Folder   *struct{} `xml:"D:propstat>D:prop>D:resourcetype>D:collection"`
	Size     *int64    `xml:"D:propstat>D:prop>D:getcontentlength"`
	Type     string    `xml:"D:propstat>D:prop>D:getcontenttype,omitempty"`
	ETag     string    `xml:"D:propstat>D:prop>D:getetag,omitempty"`
	Modified string    `xml:"D:propstat>D:prop>D:getlastmodified"`
	Status   string    `xml:"D:propstat>D:status"`
}

const statusOK = "HTTP/1.1 200 OK"

func (h *Handler) file(i fileio.Info) response {
	return response{
		Href: h.Link(i.Name), Size: &i.Size, Type: "application/octet-stream", ETag: `"` + i.Tag + `"`,
		Modified: i.Changed.UTC().Format(http.TimeFormat), Status: statusOK,
	}
}

// folderEntry describes a folder. Nobody knows when it changed, but clients want a time.
func (h *Handler) folderEntry(name string) response {
	return response{
		Href: h.Link(name), Folder: &struct{}{},
		Modified: time.Unix(0, 0).UTC().Format(http.TimeFormat), Status: statusOK,
	}
}

// answer is the body of an answer. Its first element begins it.
type answer struct {
	w     http.ResponseWriter
	begun bool
}

func (a *answer) add(one response) error {
	if !a.begun {
		a.begun = true
		a.w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		a.w.Header().Set("X-Content-Type-Options", "nosniff")
		a.w.WriteHeader(http.StatusMultiStatus)
		if err := a.write(xml.Header + `<D:multistatus xmlns:D="DAV:">`); err != nil {
			return err
		}
	}
	return xml.NewEncoder(a.w).Encode(one)
}

func (a *answer) end() error { return a.write("</D:multistatus>\n") }

func (a *answer) write(text string) error {
	_, err := a.w.Write([]byte(text))
	return err
}
