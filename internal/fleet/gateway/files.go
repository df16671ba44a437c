package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// Limits of an enrollment.
const (
	maxEnrollment = 16 << 10
	maxDevices    = 64
	maxDevice     = 100
)

func (g *Gateway) enroll(w http.ResponseWriter, r *http.Request) {
	var in job.Enrollment
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxEnrollment))
	d.DisallowUnknownFields()
	key, err := decodeEnrollment(d, &in)
	if err != nil {
		g.deny(w, r, Agent{}, err.Error(), http.StatusBadRequest)
		return
	}
	agent, err := g.o.Keys.Enroll(r.Context(), in, key)
	switch {
	case errors.Is(err, ErrUnknown):
		g.deny(w, r, Agent{}, "the code is unknown, used or expired, one of the devices belongs to another agent, or only one of the code and the agent is for a host that only builds", http.StatusForbidden)
		return
	case err != nil:
		g.fail(w, r, "cannot enroll an agent", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	text, err := json.Marshal(job.Enrolled{Agent: agent.ID, Namespace: g.o.Namespace, Tier: agent.Tier})
	if err != nil {
		g.fail(w, r, "cannot enroll an agent", err)
		return
	}
	_, _ = w.Write(text)
}

func decodeEnrollment(d *json.Decoder, in *job.Enrollment) (key [sha256.Size]byte, err error) {
	if err := d.Decode(in); err != nil {
		return key, errors.New("the enrollment cannot be read")
	}
	if !job.IsDigest(in.Key) {
		return key, errors.New("the key's hash must be a SHA-256 in hexadecimal")
	}
	if _, err := hex.Decode(key[:], []byte(in.Key)); err != nil {
		return key, err
	}
	if len(in.Devices) > maxDevices {
		return key, errors.New("an agent has at most 64 devices")
	}
	if len(in.Devices) > 0 && !validModel(in.Model) {
		return key, errors.New("a device model has 1 to 63 lower-case letters, digits and any of -. between them")
	}
	for _, name := range in.Devices {
		if !validDevice(name) {
			return key, errors.New("a device has 1 to 100 letters, digits and any of -_.:@ in its name")
		}
	}
	return key, nil
}

func validDevice(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:@"
	return name != "" && len(name) <= maxDevice && strings.Trim(name, letters) == ""
}

// validModel reports whether a gate can ask for a model.
func validModel(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	return name != "" && len(name) <= 63 && strings.Trim(name, letters+"-.") == "" && strings.ContainsAny(name[:1], letters) && strings.ContainsAny(name[len(name)-1:], letters)
}

// bundle sends the git bundle of a lease, or the builds that were made for it.
func (g *Gateway) bundle(w http.ResponseWriter, r *http.Request) {
	agent, lease, leave, ok := g.lease(w, r)
	if !ok {
		return
	}
	defer leave()
	digest := r.PathValue("digest")
	if digest != lease.Bundle && (digest != lease.Builds || digest == "") {
		g.deny(w, r, agent, "not the bundle of this lease", http.StatusForbidden)
		return
	}
	content, err := g.o.Blobs.Get(r.Context(), lease.Project, digest)
	if errors.Is(err, ErrUnknown) {
		http.Error(w, "the bundle of this lease is gone", http.StatusNotFound)
		return
	}
	if err != nil {
		g.fail(w, r, "cannot read a bundle", err)
		return
	}
	defer content.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	if _, err := io.Copy(w, content); err != nil {
		g.o.Log.WarnContext(r.Context(), "cannot send a bundle", "agent", agent.ID, "error", err)
		panic(http.ErrAbortHandler) // otherwise a part would look like the whole
	}
}

// document receives the archive with the documents or the builds of a lease.
func (g *Gateway) document(w http.ResponseWriter, r *http.Request) {
	agent, lease, leave, ok := g.lease(w, r)
	if !ok {
		return
	}
	defer leave()
	digest := r.PathValue("digest")
	if !job.IsDigest(digest) {
		g.deny(w, r, agent, "the name must be a SHA-256 in hexadecimal", http.StatusBadRequest)
		return
	}
	most := int64(job.MaxDocuments)
	if lease.Builder {
		most = job.MaxBuilds
	}
	if r.ContentLength < 0 || r.ContentLength > most {
		g.deny(w, r, agent, fmt.Sprintf("documents need a length of at most %d MiB", most>>20), http.StatusRequestEntityTooLarge)
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(10 * time.Minute))
	switch err := g.o.Blobs.Put(r.Context(), lease.Project, digest, http.MaxBytesReader(w, r.Body, most), r.ContentLength); {
	case errors.Is(err, ErrFull): // not 503, which an agent repeats until its lease ends
		g.o.Log.WarnContext(r.Context(), "cannot store documents", "agent", agent.ID, "project", lease.Project, "error", err)
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
	case errors.Is(err, ErrMismatch):
		g.deny(w, r, agent, "the content does not match its digest", http.StatusUnprocessableEntity)
	case err != nil:
		g.fail(w, r, "cannot store documents", err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// lease returns the agent of a request and what the lease in its header grants. The request counts until leave is called.
func (g *Gateway) lease(w http.ResponseWriter, r *http.Request) (agent Agent, lease grant, leave func(), ok bool) {
	agent, err := g.agent(r)
	switch {
	case errors.Is(err, ErrUnknown):
		g.deny(w, r, Agent{}, "unknown or revoked key", http.StatusUnauthorized)
		return agent, lease, nil, false
	case err != nil:
		g.fail(w, r, "cannot check the key of an agent", err)
		return agent, lease, nil, false
	}
	sealed, err := base64.StdEncoding.DecodeString(r.Header.Get(job.LeaseHeader))
	if err != nil {
		g.deny(w, r, agent, "the lease cannot be read", http.StatusForbidden)
		return agent, lease, nil, false
	}
	lease, err = g.sealer.open(agent.ID, sealed)
	files := agent.ID + " files"
	switch {
	case err != nil:
		g.deny(w, r, agent, err.Error(), http.StatusForbidden)
	case g.o.Now().Unix() > lease.Until:
		g.deny(w, r, agent, "the lease is over", http.StatusForbidden)
	case !g.enter(files, maxFiles):
		g.deny(w, r, agent, "too many files at a time", http.StatusTooManyRequests)
	default:
		return agent, lease, func() { g.leave(files) }, true
	}
	return agent, grant{}, nil, false
}

// deny refuses an HTTP request.
func (g *Gateway) deny(w http.ResponseWriter, r *http.Request, agent Agent, reason string, code int) {
	g.refuse(r.Context(), Refusal{Agent: agent.ID, Remote: r.RemoteAddr, Method: r.Method + " " + r.URL.Path, Reason: reason})
	http.Error(w, reason, code)
}

// fail answers a request that is allowed and cannot be served now. The agent tries again.
func (g *Gateway) fail(w http.ResponseWriter, r *http.Request, what string, err error) {
	g.o.Log.ErrorContext(r.Context(), what, "path", r.URL.Path, "error", err)
	http.Error(w, what, http.StatusServiceUnavailable)
}
