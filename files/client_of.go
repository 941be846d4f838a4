package files

import (
	"net/http"
	"net/netip"

	"muster/fileio"
)

// clientOf returns the client that sent a request: its token and its address. Of an IPv6
// address only the prefix counts that a network assigns to one customer.
func clientOf(r *http.Request, token string) fileio.Client {
	const customer = 64 // bits
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return fileio.Client{Token: token, Address: r.RemoteAddr}
	}
	addr := at.Addr().Unmap()
	if prefix, err := addr.Prefix(customer); err == nil && addr.Is6() {
		addr = prefix.Addr()
	}
	return fileio.Client{Token: token, Address: addr.String()}
}
