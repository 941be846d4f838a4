package bucket

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
)

// tlsError returns an error with a mend if the certificate of the object store was refused, or if
// the object store does not speak TLS. Repetitions do not help then. It returns nil for other errors.
func tlsError(at string, err error) error {
	_, elsewhere := errors.AsType[x509.HostnameError](err)
	invalid, ok := errors.AsType[x509.CertificateInvalidError](err)
	expired := ok && invalid.Reason == x509.Expired
	_, refused := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case elsewhere:
		return fmt.Errorf("the certificate of the object store at %s is for another host: give its host to --endpoint", at)
	case expired:
		return fmt.Errorf("the certificate of the object store at %s has expired, or this machine's clock is wrong: renew it", at)
	case refused:
		return fmt.Errorf("the certificate of the object store at %s is of an authority that this machine does not trust: name the file with the authority's certificate in SSL_CERT_FILE", at)
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("the object store at %s does not speak TLS: use http:// in --endpoint", at)
	}
	return nil
}
