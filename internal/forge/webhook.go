package forge

// Webhooks reads the webhooks of one kind of forge.
type Webhooks struct {
	Event, Signature string // names of the headers with the kind of the event, and with the signature of the body
	// Read parses the body of an event of this kind. ok is false if it says nothing about a change.
	Read func(event string, body []byte) (d Delivery, ok bool, err error)
}

// Delivery is what a webhook says of a change: a pull request has a new head or was closed, or a branch was pushed.
type Delivery struct {
	Repo   Repo
	Pull   int    // number of the pull request; 0 for a push
	Closed bool   // the pull request was
	Branch string // of a push
	Before string // commit of the branch before a push
	Head   string // commit
}

// Remote is where git fetches a repository from.
type Remote struct {
	URL    string
	Header string // of the request, with the credentials; empty for none
}
