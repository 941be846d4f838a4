package files

import (
	"net/http"
	"net/netip"

	"muster/internal/fair"
)

// clientOf returns the client that sent a request: its token and its address. For IPv6 only
// the 64-bit prefix counts, which networks assign to one customer.
func clientOf(r *http.Request, token string) fair.Client {
	const customer = 64 // bits
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return fair.Client{Token: token, Address: r.RemoteAddr}
	}
	addr := at.Addr().Unmap()
	if prefix, err := addr.Prefix(customer); err == nil && addr.Is6() {
		addr = prefix.Addr()
	}
	return fair.Client{Token: token, Address: addr.String()}
}
