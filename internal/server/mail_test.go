package server

import (
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Mail goes where the operator lets it go; a server without mail says so.
func TestHooksByMail(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Mail = alert.Mail{Server: "mail.example.org:587", From: "pawl@example.org", Domains: []string{"example.com"}}
	})
	p := w.project("kernels", true)
	hook := func(url, secret string) asked {
		return asked{method: "POST", path: "/v1/projects/kernels/hooks", key: w.key(p, store.ScopeAdmin), json: map[string]any{"kind": "mail", "url": url, "secret": secret}}
	}
	var made alert.Hook
	w.want(201, hook("mailto:team@example.com", "")).into(t, &made)
	if made.Kind != "mail" || made.URL != "mailto:team@example.com" {
		t.Errorf("%+v", made)
	}
	kept, err := w.store.HookByID(t.Context(), p.ID, made.ID)
	if err != nil || kept.Kind != "mail" || kept.URL != made.URL {
		t.Errorf("%+v: %v", kept, err)
	}
	w.want(400, hook("mailto:team@evil.example", ""))
	w.want(400, hook("https://hooks.example/T0", ""))
	w.want(400, hook("mailto:team@example.com?bcc=x@evil.example", ""))
	w.want(400, hook("mailto:team@example.com", "0123456789abcdef"))
	w.server.mail = alert.Mail{}
	w.want(400, hook("mailto:team@example.com", ""))
}
