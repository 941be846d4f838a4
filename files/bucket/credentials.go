package bucket

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"muster/fileio"
	"muster/internal/wording"
)

const (
	metadataMax  = 5 * time.Second  // limits a request to a service that has credentials
	renewalPause = 30 * time.Second // after a failed renewal, because requests wait for a renewal
)

// A source is a place that may have credentials.
type source struct {
	credentials.Provider
	name, mend string
	named      bool // the environment names the source, so it must have credentials
}

const keysMend = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role"

var errNoCredentials = errors.New("no credentials for the object store: " + keysMend)

// sources returns the places that may have credentials, in the order in which they are asked. The
// machine is not asked for its role if AWS_EC2_METADATA_DISABLED forbids it.
func sources() []source {
	profile := os.Getenv("AWS_PROFILE")
	list := []source{
		{&credentials.EnvAWS{}, "the environment", "set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", false},
		{&credentials.FileAWSCredentials{}, "profile " + cmp.Or(profile, "default"), "check AWS_PROFILE, AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE and the files in ~/.aws", profile != ""},
	}
	iam := &credentials.IAM{Client: &http.Client{Timeout: metadataMax}}
	switch {
	case os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		iam.Endpoint = os.Getenv("AWS_ENDPOINT_URL_STS")
		return append(list, source{iam, "the web identity", "check AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN and AWS_ENDPOINT_URL_STS", true})
	case os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "", os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		return append(list, source{iam, "the container's role", "check AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI, and AWS_CONTAINER_AUTHORIZATION_TOKEN", true})
	case os.Getenv("AWS_EC2_METADATA_DISABLED") == "true":
		return list
	}
	iam.Endpoint = os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	return append(list, source{iam, "this machine's role", keysMend, false})
}

// keys has the credentials of the first source that has some. minio-go's own chain hides why a
// source fails, and then requests are sent without a signature.
//
// A renewal that fails is tried again after renewalPause. Credentials are used until they expire.
type keys struct {
	sources []source // only one is left once it had credentials
	value   credentials.Value
	failed  error     // of the last renewal; nil = it succeeded
	again   time.Time // when a failed renewal may be tried again
}

// IsExpired implements credentials.Provider.
func (k *keys) IsExpired() bool {
	switch {
	case k.value.AccessKeyID == "":
		return true
	case k.value.Expiration.IsZero(): // minio-go has a service or a program asked before each request
		return false
	}
	return k.sources[0].IsExpired() && !(k.pauses() && k.isValid())
}

func (k *keys) isValid() bool {
	return k.value.AccessKeyID != "" && (k.value.Expiration.IsZero() || time.Now().Before(k.value.Expiration))
}

func (k *keys) pauses() bool { return k.failed != nil && time.Now().Before(k.again) }

// RetrieveWithCredContext implements credentials.Provider.
func (k *keys) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	if !k.pauses() {
		k.failed = k.renew(c)
		k.again = time.Now().Add(renewalPause)
	}
	if k.failed != nil && !k.isValid() {
		return credentials.Value{}, k.failed
	}
	return k.value, nil
}

// Retrieve implements credentials.Provider.
func (k *keys) Retrieve() (credentials.Value, error) { return k.RetrieveWithCredContext(nil) }

// renew asks the sources in their order. If none has credentials, it returns why the first one fails.
func (k *keys) renew(c *credentials.CredContext) (failed error) {
	for i, s := range k.sources {
		value, err := s.RetrieveWithCredContext(c)
		hasNone := value.AccessKeyID == "" && value.SecretAccessKey == ""
		switch {
		case err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "":
			k.sources, k.value = k.sources[i:i+1], value
			return nil
		case k.value.AccessKeyID != "" || s.named: // it must have some
		case err == nil && hasNone, isMissing(err), isHomeless(err):
			continue
		}
		if failed == nil {
			failed = k.explain(s, err)
		}
	}
	return cmp.Or(failed, errNoCredentials)
}

// isMissing reports whether an error means that no file has the profile. A wrapped fs.ErrNotExist
// is about another file. One of another operation is about a profile's program.
func isMissing(err error) bool {
	if file, ok := err.(*fs.PathError); ok {
		return file.Op == "open" && errors.Is(file, fs.ErrNotExist)
	}
	return err != nil && strings.HasPrefix(err.Error(), "section ") && strings.HasSuffix(err.Error(), "does not exist")
}

// isHomeless reports whether an error means that the user has no home, and so no file with a profile.
func isHomeless(err error) bool {
	_, none := os.UserHomeDir()
	return err != nil && none != nil && err.Error() == none.Error()
}

// explain returns the error of a source. It is a fileio.ErrBusy if the source may have credentials
// later.
func (k *keys) explain(s source, err error) error {
	text := fmt.Sprintf("no credentials for the object store (%s: %s): %s", s.name, sourceWords(err), s.mend)
	_, unreachable := errors.AsType[*url.Error](err)
	if k.value.AccessKeyID != "" || unreachable && s.named {
		return &wordedError{text, fileio.ErrBusy}
	}
	return errors.New(text)
}

// sourceWords returns why a source has no credentials. err is nil if it has only one of the two keys.
func sourceWords(err error) string {
	if err == nil {
		return "a key is missing"
	}
	if silence, ok := errors.AsType[*url.Error](err); ok {
		if silence.Timeout() {
			return fmt.Sprintf("%s does not answer within %v", silence.URL, metadataMax)
		}
		return wording.Of(silence)
	}
	if refused, ok := errors.AsType[credentials.ErrorResponse](err); ok {
		return fmt.Sprintf("%.60q, %.200q", refused.STSError.Code, refused.STSError.Message)
	}
	_, noXML := errors.AsType[*xml.SyntaxError](err)
	_, otherXML := errors.AsType[xml.UnmarshalError](err)
	_, noJSON := errors.AsType[*json.SyntaxError](err)
	_, otherJSON := errors.AsType[*json.UnmarshalTypeError](err)
	_, noTime := errors.AsType[*time.ParseError](err)
	if noXML || otherXML || noJSON || otherJSON || noTime || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "its answer makes no sense"
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return wording.Of(err)
	}
	if ended, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		return "its credential_process fails: " + ended.Error()
	}
	if isMissing(err) {
		return "it does not exist"
	}
	return fmt.Sprintf("%.200q", err)
}
