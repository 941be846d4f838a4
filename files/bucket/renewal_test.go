package bucket

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"muster/fileio"
)

// A service gives credentials for an hour, or fails.
type service struct {
	credentials.Expiry
	asked  int
	broken bool
}

func (s *service) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	s.asked++
	if s.broken {
		return credentials.Value{}, errors.New("broken")
	}
	end := time.Now().Add(time.Hour)
	s.SetExpiration(end, credentials.DefaultExpiryWindow)
	return credentials.Value{AccessKeyID: "key", SecretAccessKey: "secret", Expiration: end}, nil
}

func (s *service) Retrieve() (credentials.Value, error) { return s.RetrieveWithCredContext(nil) }

// Credentials are renewed before they expire. If that fails, they are used until then, and the
// service is asked again from time to time.
func TestRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		creds := credentials.New(&keys{sources: []source{{s, "the service", "mend it", true}}})
		check := func(asked int, works bool) {
			t.Helper()
			value, err := creds.GetWithContext(nil)
			if s.asked != asked || works != (err == nil) || works != (value.AccessKeyID == "key") || !works && !errors.Is(err, fileio.ErrBusy) {
				t.Errorf("asked %d times, want %d; %q, %v", s.asked, asked, value.AccessKeyID, err)
			}
		}
		check(1, true)
		check(1, true)
		time.Sleep(50 * time.Minute)
		s.broken = true
		check(2, true)
		check(2, true)
		time.Sleep(renewalPause + time.Second)
		check(3, true)
		time.Sleep(10 * time.Minute)
		check(4, false)
		check(4, false)
		s.broken = false
		check(4, false)
		time.Sleep(renewalPause + time.Second)
		check(5, true)
	})
}
