package alert

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
)

// Hook is a destination for a project's notifications.
type Hook struct {
	ID      int64     `json:"id"`
	Kind    string    `json:"kind"` // slack, json or mail
	URL     string    `json:"url"`  // https://, or mailto: for mail
	Secret  string    `json:"-"`    // signs the messages
	Created time.Time `json:"created"`
}

// DigestSource provides the data of a digest.
type DigestSource interface {
	// News returns the groups that were announced at a time, in their current state.
	News(ctx context.Context, project int64, told time.Time) (News, error)
	// HookByID returns a hook, or ErrRefused if it was removed.
	HookByID(ctx context.Context, project, hook int64) (Hook, error)
}

// Options configures a Notifier.
type Options struct {
	URL      string // of this server, for links
	Private  bool   // private addresses and http are allowed
	Mail     Mail
	Resolver *net.Resolver
	Now      func() time.Time
}

// Notifier sends digests to hooks.
type Notifier struct {
	o    Options
	http *http.Client
}

// NewNotifier returns a Notifier.
func NewNotifier(o Options) *Notifier {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Notifier{o: o, http: newHTTP(o.Private, o.Resolver)}
}

// Deliver sends the digest of a time to a hook. It may be retried after any error except ErrRefused.
// Every attempt has the same delivery id, so that the receiver can detect duplicates.
func (t *Notifier) Deliver(ctx context.Context, b DigestSource, project, hook int64, told time.Time) error {
	h, err := b.HookByID(ctx, project, hook)
	if err != nil {
		return err
	}
	news, err := b.News(ctx, project, told)
	if err != nil {
		return err
	}
	d := NewDigest(news, t.o.URL)
	if d.Empty() {
		return nil // withdrawn or judged meanwhile
	}
	d.ID = deliveryID(project, hook, told)
	if err := t.send(ctx, h, &d); err != nil {
		return fmt.Errorf("cannot notify hook %d of project %d: %w", hook, project, err)
	}
	failpoint.At("deliver.sent")
	return nil
}

// Try sends a digest that is marked as a test.
func (t *Notifier) Try(ctx context.Context, h Hook, project client.Project) error {
	d := NewDigest(News{Project: project, Told: t.o.Now().UTC()}, t.o.URL)
	d.Test, d.ID = true, "test-"+deliveryID(0, h.ID, d.At)[:16]
	return t.send(ctx, h, &d)
}

func (t *Notifier) send(ctx context.Context, h Hook, d *Digest) error {
	if h.Kind == "mail" {
		return t.o.Mail.send(ctx, h.URL, t.o.Now(), d)
	}
	body, err := d.encode(h.Kind)
	if err != nil {
		return err
	}
	return t.post(ctx, h, d.ID, body)
}

func deliveryID(project, hook int64, told time.Time) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%d", project, hook, told.UnixMicro()))
	return hex.EncodeToString(sum[:16])
}

func (t *Notifier) post(ctx context.Context, h Hook, id string, body []byte) error {
	if err := CheckHook(h.URL, t.o.Private); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, withoutURL(err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "pawld")
	req.Header.Set("Pawl-Delivery", id)
	if h.Secret != "" {
		req.Header.Set("Pawl-Signature", Sign(h.Secret, t.o.Now(), body))
	}
	res, err := t.http.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	switch {
	case res.StatusCode >= 200 && res.StatusCode < 300:
		return nil
	case res.StatusCode == http.StatusRequestTimeout, res.StatusCode == http.StatusTooManyRequests, res.StatusCode >= 500:
		return fmt.Errorf("the hook answered %s", res.Status)
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return fmt.Errorf("%w: the hook answered %s, and redirects are not followed: use the final address", ErrRefused, res.Status)
	default:
		return fmt.Errorf("%w: the hook answered %s", ErrRefused, res.Status)
	}
}

// withoutURL removes the address from an error: that of a Slack hook is a secret, and errors are logged.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// Sign returns the value of the header Pawl-Signature: the time of sending, and the HMAC-SHA256 of time,
// point and body with the hook's secret. The receiver compares it and refuses old times.
func Sign(secret string, at time.Time, body []byte) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(stamp + "."))
	_, _ = mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
