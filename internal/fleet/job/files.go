package job

import "github.com/goatnote-inc/pawl/internal/fleet/tier"

// Paths of the gateway beside gRPC. The names of files are their SHA-256.
const (
	EnrollPath   = "/v1/fleet/enroll"
	BundlePath   = "/v1/fleet/bundles/"
	DocumentPath = "/v1/fleet/documents/"
	// LeaseHeader holds the task token of a lease in base64. It says which files the request may name.
	LeaseHeader = "Pawl-Lease"
	// HostHeaders of gRPC say what a [Host] is.
	ToolsHeader = "pawl-host-tools"
	ArchHeader  = "pawl-host-arch"
)

// Limits of files in bytes.
const (
	MaxBundle    = 4 << 30
	MaxDocuments = 256 << 20
	MaxBuilds    = 1 << 30
)

// Documents are the files of a run that an agent delivers, as pawl run names them.
var Documents = []string{"current.json", "current.json.zst", "verdict.json", "ratchet_report.md", "report.html", "account.json"}

// Enrollment is the body of a request to enroll. The agent chooses its key and sends only the hash.
type Enrollment struct {
	Code    string   `json:"code"`
	Key     string   `json:"key"`     // SHA-256 of the key in hexadecimal
	Model   string   `json:"model"`   // what gates ask for, such as l4; empty without devices
	Devices []string `json:"devices"` // none if the host only builds, which its code must allow
}

// Enrolled is the answer to an [Enrollment].
type Enrolled struct {
	Agent     string    `json:"agent"`
	Namespace string    `json:"namespace"`
	Tier      tier.Tier `json:"tier"` // of code that the host serves, as its code says
}
