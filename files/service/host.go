package service

import (
	"net"
	"net/http"
)

// localOnly answers requests that were sent to a name of this machine. A page of somebody
// else's in a browser here can have its own name lead to this machine (DNS rebinding), and
// would else read and replace everything.
func localOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // it has no port
			host = r.Host
		}
		if !isLoopback(host) {
			http.Error(w, "this service is for this machine, and "+host+" is none of its names: use 127.0.0.1, or a token", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}
