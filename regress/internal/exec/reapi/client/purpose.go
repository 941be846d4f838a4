package client

// A purpose names a request in errors.
type purpose string

const (
	connecting    purpose = "connecting"
	learning      purpose = "asking what it can do"
	gettingResult purpose = "asking for a result"
	findingBlobs  purpose = "asking for contents"
	sendingBlobs  purpose = "sending contents"
	sendingBlob   purpose = "sending a content"
	executing     purpose = "executing"
	readingBlobs  purpose = "reading contents"
	readingBlob   purpose = "reading a content"
)
