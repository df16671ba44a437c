package wake

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const queuedBody = `{"action":"queued","workflow_job":{"id":100520616165,"run_id":33714470481,"status":"queued","labels":["Self-Hosted","gpu"],"runner_name":null,"created_at":"2026-11-15T04:16:57Z","steps":[]},"repository":{"id":7,"full_name":"O/Kernels"},"sender":{"login":"x"}}`

var testHeaders = Headers{Event: "X-Event", Delivery: "X-Delivery", Signature: "X-Signature"}

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func TestReceiver(t *testing.T) {
	old := hmac.New(sha1.New, []byte("s3cret"))
	old.Write([]byte(queuedBody))
	for name, c := range map[string]struct {
		method, event, kind, body, signature string
		full                                 error
		want                                 int
		taken                                bool
	}{
		"a job":                         {want: 202, taken: true},
		"its content type may say more": {kind: "application/json; charset=utf-8", want: 202, taken: true},
		"a flipped byte":                {body: strings.Replace(queuedBody, "gpu", "gpv", 1), signature: sign("s3cret", queuedBody), want: 401},
		"another order of the bytes":    {body: strings.Replace(queuedBody, ":", ": ", 1), signature: sign("s3cret", queuedBody), want: 401},
		"another secret":                {signature: sign("secret", queuedBody), want: 401},
		"no signature":                  {signature: "none", want: 401},
		"an empty signature":            {signature: "sha256=", want: 401},
		"no hex":                        {signature: "sha256=zz", want: 401},
		"cut short":                     {signature: sign("s3cret", queuedBody)[:40], want: 401},
		"SHA-1":                         {signature: "sha1=" + hex.EncodeToString(old.Sum(nil)), want: 401},
		"a ping":                        {event: "ping", body: `{"zen":"x"}`, want: 200},
		"a ping of a stranger":          {event: "ping", signature: "none", want: 401},
		"another event":                 {event: "push", want: 204},
		"no event":                      {event: "none", want: 204},
		"GET":                           {method: http.MethodGet, want: 405},
		"a form":                        {kind: "application/x-www-form-urlencoded", want: 415},
		"no content type":               {kind: "none", want: 415},
		"too long":                      {body: `{"x":"` + strings.Repeat("x", MaxBody) + `"}`, want: 413},
		"no JSON":                       {body: `{"action":`, want: 400},
		"no id":                         {body: `{"action":"queued","repository":{"full_name":"o/r"}}`, want: 400},
		"no repository":                 {body: `{"action":"queued","workflow_job":{"id":1}}`, want: 400},
		"a repository out of hell":      {body: `{"action":"queued","workflow_job":{"id":1},"repository":{"full_name":"o/r;rm -rf"}}`, want: 400},
		"101 labels":                    {body: `{"action":"queued","workflow_job":{"id":1,"labels":["a"` + strings.Repeat(`,"a"`, 100) + `]},"repository":{"full_name":"o/r"}}`, want: 400},
		"waits for an approval":         {body: strings.Replace(queuedBody, `"queued"`, `"waiting"`, 1), want: 204},
		"the disk is full":              {full: errors.New("no space"), want: 503},
	} {
		t.Run(name, func(t *testing.T) {
			var taken []Delivery
			r := newReceiver([]byte("s3cret"), testHeaders, t.Logf, func(d Delivery) error {
				if c.full == nil {
					taken = append(taken, d)
				}
				return c.full
			})
			set(&c.method, http.MethodPost)
			set(&c.event, "workflow_job")
			set(&c.kind, "application/json")
			set(&c.body, queuedBody)
			set(&c.signature, sign("s3cret", c.body))
			req := httptest.NewRequest(c.method, "/webhook", strings.NewReader(c.body))
			for header, value := range map[string]string{testHeaders.Event: c.event, "Content-Type": c.kind, testHeaders.Signature: c.signature, testHeaders.Delivery: "d1"} {
				if value != "none" {
					req.Header.Set(header, value)
				}
			}
			w := httptest.NewRecorder()
			r.ServeHTTP(w, req)
			if w.Code != c.want || (len(taken) == 1) != c.taken {
				t.Errorf("%d %s, %d taken; want %d", w.Code, w.Body, len(taken), c.want)
			}
			if !c.taken {
				return
			}
			want := Job{Repo: "o/kernels", ID: 100520616165, Labels: []string{"self-hosted", "gpu"}, Stage: Queued, Created: time.Date(2026, 11, 15, 4, 16, 57, 0, time.UTC)}
			if diff := cmp.Diff(want, taken[0].Job); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A delivery that comes again costs nothing; one that was turned away counts when it
// comes again; and a stranger who sends many ids fills no memory.
func TestDeliveriesComeOnce(t *testing.T) {
	n := 0
	full := true
	r := newReceiver([]byte("s"), testHeaders, t.Logf, func(Delivery) error {
		if full {
			return errors.New("full")
		}
		n++
		return nil
	})
	send := func(id string) int {
		req := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(queuedBody))
		req.Header.Set(testHeaders.Event, "workflow_job")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(testHeaders.Signature, sign("s", queuedBody))
		req.Header.Set(testHeaders.Delivery, id)
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		return w.Code
	}
	got := []int{send("a")}
	full = false
	got = append(got, send("a"), send("a"), send("b"))
	if !slices.Equal(got, []int{503, 202, 200, 202}) || n != 2 {
		t.Errorf("%v, %d taken", got, n)
	}
	for i := range 3 * len(r.seen.ring) {
		r.seen.add(fmt.Sprint(i))
	}
	if len(r.seen.ids) > len(r.seen.ring) {
		t.Errorf("%d ids are remembered", len(r.seen.ids))
	}
}

func FuzzDelivery(f *testing.F) {
	f.Add([]byte(queuedBody))
	for _, s := range []string{`{}`, `null`, `{"action":"completed","workflow_job":{"id":1,"labels":[]},"repository":{"full_name":"o/r"}}`, `{"action":"in_progress","workflow_job":{"id":9,"labels":["GPU"],"runner_name":"a"},"repository":{"full_name":"o/r"}}`} {
		f.Add([]byte(s))
	}
	c, err := ParseConfig("wake.yaml", []byte(twoHosts))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, ok, err := DecodeDelivery(body)
		if err != nil || !ok {
			return
		}
		if d.Job.ID <= 0 || !repoName.MatchString(d.Job.Repo) || d.Job.Stage == "" || len(d.Job.Labels) > maxLabels {
			t.Errorf("%+v", d)
		}
		for _, l := range append(d.Job.Labels, d.Job.Runner) {
			if len(l) > 4*maxLabel || l != strings.ToLower(l) && l != d.Job.Runner {
				t.Errorf("%q", l)
			}
		}
		s := NewState()
		now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
		s.Step(c, d, now)
		s.Step(c, d, now.Add(time.Minute))
		if len(s.Jobs) > 1 {
			t.Errorf("%d jobs of one", len(s.Jobs))
		}
	})
}
