package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// ruleText is a rule as the API writes it.
type ruleText struct {
	ID int64 `json:"id,omitempty"`
	ruleFields
	Created *time.Time `json:"created,omitempty"`
}

// ruleFields is identity.Rule with the field names of the API.
type ruleFields struct {
	RepositoryID   int64    `json:"repository_id"`
	OwnerID        int64    `json:"owner_id"`
	DefaultBranch  string   `json:"default_branch"`
	Events         []string `json:"events"`
	Refs           []string `json:"refs,omitempty"`
	Protected      bool     `json:"protected,omitempty"`
	Workflow       string   `json:"workflow"`
	JobWorkflow    string   `json:"job_workflow,omitempty"`
	JobWorkflowSHA string   `json:"job_workflow_sha,omitempty"`
	Environment    string   `json:"environment,omitempty"`
}

func tellRule(r store.Rule) ruleText { return ruleText{r.ID, ruleFields(r.Rule), &r.Created} }

func (s *Server) postRule(w http.ResponseWriter, r *http.Request, p store.Project) error {
	var in ruleText
	if err := readDocument(w, r, &in); err != nil {
		return err
	}
	if in.ID != 0 || in.Created != nil {
		return badRequest("id and created are set by the server: leave them out")
	}
	want := identity.Rule(in.ruleFields)
	if err := want.Check(); err != nil {
		return badRequest("%s", err.Error())
	}
	var rule store.Rule
	err := s.changeAudited(r, p, "rule.add", func(on *store.Store) (_ map[string]string, err error) {
		rule, err = on.AddRule(r.Context(), p.ID, want)
		return map[string]string{"rule": fmt.Sprint(rule.ID), "repository_id": fmt.Sprint(in.RepositoryID)}, err
	})
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, tellRule(rule))
}

// hookText is a hook in a request. Its secret is never returned.
type hookText struct {
	Kind   string `json:"kind"`
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

// shownHook hides the secret parts of a URL. For Slack this is the whole path.
func shownHook(h alert.Hook) alert.Hook {
	h.Secret = ""
	if u, err := url.Parse(h.URL); err == nil && h.Kind != "mail" {
		h.URL = u.Scheme + "://" + u.Host + "/..."
	}
	return h
}

func (s *Server) postHook(w http.ResponseWriter, r *http.Request, p store.Project) error {
	var in hookText
	if err := readDocument(w, r, &in); err != nil {
		return err
	}
	hook, err := s.addHook(r, p, in)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, shownHook(hook))
}

// addHook adds a hook. Its address is checked again at every call, because a name can change its address.
func (s *Server) addHook(r *http.Request, p store.Project, in hookText) (hook alert.Hook, err error) {
	host, err := s.hookHost(in)
	if err != nil {
		return hook, err
	}
	err = s.changeAudited(r, p, "hook.add", func(on *store.Store) (_ map[string]string, err error) {
		hook, err = on.AddHook(r.Context(), p.ID, alert.Hook{Kind: in.Kind, URL: in.URL, Secret: in.Secret})
		return map[string]string{"hook": fmt.Sprint(hook.ID), "host": host}, err
	})
	return hook, err
}

// hookHost returns the host of a hook, or an error if it is not allowed.
func (s *Server) hookHost(in hookText) (string, error) {
	u, err := url.Parse(in.URL)
	switch {
	case in.Kind == "mail":
		to, err := s.mail.Address(in.URL)
		if err != nil {
			return "", badRequest("url: %s", words.Sanitize(err.Error()))
		}
		if in.Secret != "" {
			return "", badRequest("secret: mail is not signed, leave it out")
		}
		return to[strings.LastIndexByte(to, '@')+1:], nil
	case in.Kind != "slack" && in.Kind != "json":
		return "", badRequest("kind: must be slack, json or mail")
	case err != nil || u.Fragment != "" || len(in.URL) > 2000:
		return "", badRequest("url: must be https://HOST/PATH")
	case alert.CheckHook(in.URL, s.private) != nil:
		return "", badRequest("url: %s", words.Sanitize(alert.CheckHook(in.URL, s.private).Error()))
	case in.Kind == "json" && (len(in.Secret) < 16 || len(in.Secret) > 200):
		return "", badRequest("secret: must be 16 to 200 bytes; it signs the messages, so that the receiver can verify them")
	}
	return u.Host, nil
}
