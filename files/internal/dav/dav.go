// Package dav answers the methods of WebDAV (RFC 4918) that a cache's clients need beside those
// of HTTP: OPTIONS, PROPFIND and MKCOL. Files cannot be locked, copied or moved here, so no
// answer claims a class of WebDAV.
//
// The store has no folders. A folder is the beginning of names, up to a slash: each one exists,
// and MKCOL creates nothing. A folder's files are not listed: no cache asks for them. The package must not change files.
package dav

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"time"

	"muster/fileio"
)

// A Store has the methods of a fileio.Store that a Handler needs.
type Store interface {
	Stat(ctx context.Context, name string) (fileio.Info, error)
}

// Handler answers requests about the files of a store.
type Handler struct {
	Store Store

	// Link returns the path of a file's name, or of a folder's name with its slash.
	Link func(name string) string

	// Fail answers a request that failed.
	Fail func(http.ResponseWriter, *http.Request, error)
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
		return "OPTIONS, GET, HEAD, PROPFIND, MKCOL"
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
		h.mkcol(w, r)
	default:
		w.Header().Set("Allow", Allowed(name))
		w.WriteHeader(http.StatusNoContent)
	}
}

// mkcol accepts a folder, which exists already.
func (h *Handler) mkcol(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		http.Error(w, "MKCOL takes no body", http.StatusUnsupportedMediaType)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// propfind describes a file or a folder. The body of the request does not matter: the answer has all properties.
func (h *Handler) propfind(w http.ResponseWriter, r *http.Request, name string) {
	if depth := r.Header.Get("Depth"); depth != "0" && (depth != "1" || isFolder(name)) { // missing = infinity
		http.Error(w, "PROPFIND has a depth of 0 here: a GET of "+h.Link("")+"?prefix= lists files", http.StatusForbidden)
		return
	}
	one := h.folder(name)
	if !isFolder(name) {
		info, err := h.Store.Stat(r.Context(), name)
		if err != nil {
			h.Fail(w, r, err)
			return
		}
		one = h.file(info)
	}
	text, err := xml.Marshal(one)
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusMultiStatus)
	_, _ = fmt.Fprintf(w, "%s<D:multistatus xmlns:D=\"DAV:\">%s</D:multistatus>\n", xml.Header, text) // an error means that the client has gone
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

// folder describes a folder. Nobody knows when it changed, but clients want a time.
func (h *Handler) folder(name string) response {
	return response{
		Href: h.Link(name), Folder: &struct{}{},
		Modified: time.Unix(0, 0).UTC().Format(http.TimeFormat), Status: statusOK,
	}
}
