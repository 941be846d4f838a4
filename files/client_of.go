package files

import (
	"net/http"
	"net/netip"

	"muster/fileio"
)

// clientOf returns who has sent a request, as the store divides what is scarce: by token, and
// then by address. Of IPv6 that is what a network hands to one customer.
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
