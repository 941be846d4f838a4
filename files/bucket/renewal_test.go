package bucket

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"muster/fileio"
)

// A service gives credentials for an hour or without an end, or fails.
type service struct {
	credentials.Expiry
	asked   int
	broken  bool
	endless bool
}

func (s *service) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	s.asked++
	if s.broken {
		return credentials.Value{}, errors.New("broken")
	}
	if s.endless {
		s.SetExpiration(time.Time{}, credentials.DefaultExpiryWindow)
		return credentials.Value{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
	}
	end := time.Now().Add(time.Hour)
	s.SetExpiration(end, credentials.DefaultExpiryWindow)
	return credentials.Value{AccessKeyID: "key", SecretAccessKey: "secret", Expiration: end}, nil
}

func (s *service) Retrieve() (credentials.Value, error) { return s.RetrieveWithCredContext(nil) }

// Credentials without an end are not renewed: a service or a program would be asked before each request.
func TestNoEnd(t *testing.T) {
	s := &service{endless: true}
	creds := credentials.New(&keys{sources: []source{{s, "the service", "mend it", true}}})
	for range 3 {
		if value, err := creds.GetWithContext(nil); value.AccessKeyID != "key" || err != nil {
			t.Error(value, err)
		}
	}
	if s.asked != 1 {
		t.Errorf("asked %d times", s.asked)
	}
}

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
