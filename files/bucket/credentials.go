package bucket

import (
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// metadataMax limits a request to a service that has credentials.
const metadataMax = 5 * time.Second

// findCredentials returns the credentials of the environment, of the files of AWS's tools, or of a role. minio-go
// renews those that expire. A profile that the environment names is not replaced by the machine's role.
func findCredentials() (*credentials.Credentials, error) {
	sources := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	named := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") + os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") + os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if os.Getenv("AWS_PROFILE") == "" && (named != "" || os.Getenv("AWS_EC2_METADATA_DISABLED") != "true") {
		iam := &credentials.IAM{Client: &http.Client{Timeout: metadataMax}}
		if os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
			iam.Endpoint = os.Getenv("AWS_ENDPOINT_URL_STS")
		}
		sources = append(sources, iam)
	}
	all := credentials.New(&signing{credentials.Chain{Providers: sources}})
	_, err := all.GetWithContext(nil)
	return all, err
}

var errNoCredentials = errors.New("no credentials for the object store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role")

// signing are credentials that are there, or an error: without them minio-go would send requests that nobody signed.
type signing struct{ credentials.Chain }

func (s *signing) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	value, err := s.Chain.RetrieveWithCredContext(c)
	if err != nil || value.AccessKeyID == "" || value.SecretAccessKey == "" {
		return credentials.Value{}, errNoCredentials
	}
	return value, nil
}
