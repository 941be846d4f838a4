package bucket

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"muster/internal/wording"
)

// tlsError returns an error with a mend if the certificate of the object store was refused, or if
// the object store does not speak TLS. Repetitions do not help then. It returns nil for other errors.
func tlsError(at string, err error) error {
	if refused, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("the object store at %s: %s", at, wording.Of(refused))
	}
	if strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return fmt.Errorf("the object store at %s does not speak TLS: use http:// in --endpoint", at)
	}
	return nil
}
