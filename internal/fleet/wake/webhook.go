package wake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/signature"
)

// MaxBody is the maximum size of a delivery. A workflow_job has about twenty kilobytes.
const MaxBody = 1 << 20

const (
	maxLabels = 100
	maxLabel  = 256
)

// payload contains the used fields of a workflow_job delivery.
type payload struct {
	Action string `json:"action"`
	Job    struct {
		ID      int64     `json:"id"`
		Labels  []string  `json:"labels"`
		Runner  string    `json:"runner_name"`
		Created time.Time `json:"created_at"`
	} `json:"workflow_job"`
	Repository struct {
		Name string `json:"full_name"`
	} `json:"repository"`
}

// DecodeDelivery parses the body of a workflow_job delivery. ok is false if there is nothing to do: a
// job that waits for an approval needs no host yet.
func DecodeDelivery(body []byte) (d Delivery, ok bool, err error) {
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return d, false, fmt.Errorf("not a workflow_job event: %w", err)
	}
	stage, known := stages[p.Action]
	if !known {
		return d, false, nil
	}
	repo := strings.ToLower(p.Repository.Name)
	switch {
	case p.Job.ID <= 0:
		return d, false, errors.New("the job has no id")
	case !repoName.MatchString(repo):
		return d, false, errors.New("the name of the repository is invalid")
	case len(p.Job.Labels) > maxLabels:
		return d, false, fmt.Errorf("the job has %d labels, the limit is %d", len(p.Job.Labels), maxLabels)
	case len(p.Job.Runner) > maxLabel:
		return d, false, errors.New("the name of the runner is too long")
	}
	for i, l := range p.Job.Labels {
		if len(l) > maxLabel {
			return d, false, errors.New("a label is too long")
		}
		p.Job.Labels[i] = strings.ToLower(l)
	}
	d.Job = Job{Repo: repo, ID: p.Job.ID, Labels: p.Job.Labels, Stage: stage, Runner: p.Job.Runner, Created: p.Job.Created}
	return d, true, nil
}

var stages = map[string]Stage{"queued": Queued, "in_progress": Running, "completed": Done}

// Headers names the headers of a forge's webhooks.
type Headers struct {
	Event     string // kind of the event
	Delivery  string // ID of the delivery
	Signature string // of the body, with the secret
}

// receiver handles webhook requests. accept returns when the delivery is on disk.
type receiver struct {
	secret  []byte
	headers Headers
	accept  func(Delivery) error
	log     func(format string, args ...any)
	slots   chan struct{} // limits concurrent reads
	seen    recent
}

func newReceiver(secret []byte, headers Headers, log func(string, ...any), accept func(Delivery) error) *receiver {
	return &receiver{secret: secret, headers: headers, accept: accept, log: log, slots: make(chan struct{}, 32), seen: recent{ids: map[string]bool{}}}
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "only POST is supported", http.StatusMethodNotAllowed)
		return
	}
	event := req.Header.Get(r.headers.Event)
	if event != "workflow_job" && event != "ping" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "set the webhook's content type to application/json", http.StatusUnsupportedMediaType)
		return
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	default:
		busy(w, "too many requests at once")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, MaxBody))
	if err != nil {
		code := http.StatusBadRequest
		if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
			code = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "cannot read the body", code)
		return
	}
	if !signature.Valid(r.secret, body, req.Header.Get(r.headers.Signature)) {
		http.Error(w, "the signature is invalid", http.StatusUnauthorized)
		return
	}
	if event == "ping" {
		fmt.Fprintln(w, "pong")
		return
	}
	r.take(w, body, req.Header.Get(r.headers.Delivery))
}

// take passes on a signed delivery, once.
func (r *receiver) take(w http.ResponseWriter, body []byte, id string) {
	if r.seen.has(id) {
		fmt.Fprintln(w, "already received")
		return
	}
	d, ok, err := DecodeDelivery(body)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case !ok:
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if err := r.accept(d); err != nil {
		r.log("cannot accept a delivery: %v", err)
		busy(w, "busy, try again later")
		return
	}
	r.seen.add(id)
	w.WriteHeader(http.StatusAccepted)
}

func busy(w http.ResponseWriter, text string) {
	w.Header().Set("Retry-After", "10")
	http.Error(w, text, http.StatusServiceUnavailable)
}

// recent remembers the last deliveries, so that a repeated one costs nothing. Forgetting one is
// harmless: a stage only increases.
type recent struct {
	mu   sync.Mutex
	ids  map[string]bool
	ring [1024]string
	next int
}

func (r *recent) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[id]
}

func (r *recent) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id == "" || len(id) > maxLabel || r.ids[id] {
		return
	}
	delete(r.ids, r.ring[r.next])
	r.ring[r.next] = id
	r.ids[id] = true
	r.next = (r.next + 1) % len(r.ring)
}
