package github

// The headers of a webhook.
const (
	EventHeader     = "X-GitHub-Event"      // kind of the event
	DeliveryHeader  = "X-GitHub-Delivery"   // ID of the delivery
	SignatureHeader = "X-Hub-Signature-256" // of the body, with the secret
)
