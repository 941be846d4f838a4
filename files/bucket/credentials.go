package bucket

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"muster/internal/wording"
)

// metadataMax limits a request to a service that has credentials.
const metadataMax = 5 * time.Second

// findCredentials returns the credentials of the environment, of the files of AWS's tools, or of a
// role. minio-go renews those that expire. Its own chain would send requests without a signature if a
// renewal fails, so the source that has credentials is used alone.
func findCredentials() (*credentials.Credentials, error) {
	var failed error
	for _, source := range sources() {
		creds := credentials.New(source)
		value, err := creds.GetWithContext(&credentials.CredContext{Client: &http.Client{Timeout: metadataMax}})
		switch {
		case err != nil:
			failed = err
		case value.AccessKeyID == "" && value.SecretAccessKey == "":
		case value.AccessKeyID == "" || value.SecretAccessKey == "":
			return nil, noCredentials(errors.New("one of two keys is missing"))
		case value.Expiration.IsZero(): // minio-go would ask a service or a program before each request
			return credentials.New(&credentials.Static{Value: value}), nil
		default:
			return creds, nil
		}
	}
	return nil, noCredentials(failed)
}

// sources returns the places that may have credentials. A profile or a role that the environment names is
// not replaced by that of the machine.
func sources() []credentials.Provider {
	list := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	iam := &credentials.IAM{Client: &http.Client{Timeout: metadataMax}}
	switch {
	case os.Getenv("AWS_PROFILE") != "":
		return list
	case os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		iam.Endpoint = os.Getenv("AWS_ENDPOINT_URL_STS")
	case os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "", os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
	case os.Getenv("AWS_EC2_METADATA_DISABLED") == "true":
		return list
	default:
		iam.Endpoint = os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	}
	return append(list, iam)
}

// noCredentials returns the error of a machine without credentials. err is that of the last source, or nil.
func noCredentials(err error) error {
	reason := ""
	if err != nil {
		reason = fmt.Sprintf(" (%.200s)", wording.Of(err))
	}
	return fmt.Errorf("no credentials for the object store%s: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role", reason)
}
