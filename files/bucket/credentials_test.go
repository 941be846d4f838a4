package bucket_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/fileio"
	"muster/files/bucket"
	"muster/test/kits/buckettest"
	"muster/test/kits/enginetest"
)

// roles gives a new key at each request: as the metadata service of a container, and as a service that takes the
// token of a web identity.
type roles struct {
	valid time.Duration
	given atomic.Int64
}

func (r *roles) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	expires := time.Now().Add(r.valid).UTC()
	key := func() string { return fmt.Sprint("role", r.given.Add(1)) }
	switch {
	case q.Method == http.MethodPost:
		if q.FormValue("Action") != "AssumeRoleWithWebIdentity" || q.FormValue("WebIdentityToken") != "proof" || q.FormValue("RoleArn") != "arn:role" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, key(), expires.Format(time.RFC3339))
	case q.URL.Path == "/container" && q.Header.Get("Authorization") == "pass":
		_ = json.NewEncoder(w).Encode(map[string]any{"Code": "Success", "AccessKeyId": key(), "SecretAccessKey": "secret", "Token": "session", "Expiration": expires})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// Credentials come from variables, files, and roles. Those that expire are renewed.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "credentials")
	keys := "[default]\naws_access_key_id = filed\naws_secret_access_key = secret\n[team]\naws_access_key_id = teams\naws_secret_access_key = secret\naws_session_token = session\n"
	if err := os.WriteFile(file, []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	proof := filepath.Join(dir, "proof")
	if err := os.WriteFile(proof, []byte("proof"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		variables map[string]string // ROLES is the address of roles
		key       string
		session   bool
	}{
		{"variables", map[string]string{"AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "secret"}, "mine", false},
		{"variables with a session", map[string]string{"AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session"}, "mine", true},
		{"file", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file}, "filed", false},
		{"profile", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "team"}, "teams", true},
		{"container", map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "ROLES/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "pass", "AWS_EC2_METADATA_DISABLED": "true"}, "role", true},
		{"web identity", map[string]string{"AWS_ENDPOINT_URL_STS": "ROLES", "AWS_WEB_IDENTITY_TOKEN_FILE": proof, "AWS_ROLE_ARN": "arn:role", "AWS_EC2_METADATA_DISABLED": "true"}, "role", true},
	} {
		for _, valid := range []time.Duration{time.Hour, -time.Second} {
			t.Run(fmt.Sprint(c.name, " for ", valid), func(t *testing.T) {
				r := &roles{valid: valid}
				server := httptest.NewServer(r)
				t.Cleanup(server.Close)
				used, sessions := keysOf(t, func(set func(name, value string)) {
					for name, value := range c.variables {
						set(name, strings.Replace(value, "ROLES", server.URL, 1))
					}
				})
				switch renews := c.key == "role" && valid < 0; {
				case c.session && len(sessions) != 1 || sessions[""] == c.session:
					t.Errorf("sessions %v", sessions)
				case renews && len(used) < 2, !renews && len(used) != 1:
					t.Errorf("keys %v", used)
				}
				for key := range used {
					if key != c.key && (c.key != "role" || !strings.HasPrefix(key, "role")) {
						t.Errorf("key %s, want %s", key, c.key)
					}
				}
			})
		}
	}
}

var signedBy = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=(\w+)/`)

// cleanEnvironment removes all variables and files with credentials.
func cleanEnvironment(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", t.TempDir())
}

// keysOf returns the keys and the session tokens of requests to an object store, with variables
// that set sets.
func keysOf(t *testing.T, set func(func(name, value string))) (keys, sessions map[string]bool) {
	t.Helper()
	cleanEnvironment(t)
	set(t.Setenv)
	keys, sessions = map[string]bool{}, map[string]bool{}
	var mu sync.Mutex
	store := buckettest.Start(t)
	store.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if signed := signedBy.FindStringSubmatch(r.Header.Get("Authorization")); signed != nil {
			keys[signed[1]] = true
		} else {
			keys["none"] = true
		}
		sessions[r.Header.Get("X-Amz-Security-Token")] = true
		return false
	}
	s := openAt(t, bucket.Options{Endpoint: store.URL, Bucket: buckettest.Bucket})
	enginetest.Put(t, s, "a", []byte("content"))
	enginetest.CheckContent(t, s, "a", []byte("content"))
	mu.Lock()
	defer mu.Unlock()
	return keys, sessions
}

// No source replaces a profile that the environment names, and no request is sent without a signature.
func TestNoCredentials(t *testing.T) {
	roles := httptest.NewServer(&roles{valid: time.Hour})
	t.Cleanup(roles.Close)
	for name, variables := range map[string]map[string]string{
		"nothing":         {"AWS_EC2_METADATA_DISABLED": "true"},
		"half":            {"AWS_EC2_METADATA_DISABLED": "true", "AWS_ACCESS_KEY_ID": "mine"},
		"missing profile": {"AWS_CONTAINER_CREDENTIALS_FULL_URI": roles.URL + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "pass", "AWS_PROFILE": "team"},
	} {
		t.Run(name, func(t *testing.T) {
			cleanEnvironment(t)
			for name, value := range variables {
				t.Setenv(name, value)
			}
			_, err := bucket.Open(bucket.Options{Bucket: "kept", Endpoint: "http://127.0.0.1:1"})
			if err == nil || !strings.HasPrefix(err.Error(), "no credentials for the object store: set AWS_ACCESS_KEY_ID") {
				t.Error(err)
			}
		})
	}
}

// If expired credentials are not renewed, requests fail. None is sent without a signature.
func TestRenewalFails(t *testing.T) {
	cleanEnvironment(t)
	service := httptest.NewServer(&roles{valid: -time.Second})
	t.Cleanup(service.Close)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", service.URL+"/container")
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pass")
	store := buckettest.Start(t)
	s := openAt(t, bucket.Options{Endpoint: store.URL, Bucket: buckettest.Bucket})
	enginetest.Put(t, s, "a", []byte("content"))
	service.Close()
	store.Fault = func(_ http.ResponseWriter, q *http.Request) bool {
		t.Errorf("a request is signed by %q", q.Header.Get("Authorization"))
		return false
	}
	if _, err := enginetest.Get(t.Context(), s, "a"); !errors.Is(err, fileio.ErrBusy) || !strings.Contains(err.Error(), "no credentials") {
		t.Error(err)
	}
}
