package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// members compares the wanted members of a project with the current ones.
func (p *plan) members(ctx context.Context, s *store.Store) error {
	if p.want.Members == nil {
		return nil
	}
	have, err := part(ctx, p, s.Members)
	if err != nil {
		return err
	}
	for _, m := range *p.want.Members {
		if m.Issuer == "" {
			m.Issuer = p.config.Login.Issuer
		}
		if m.Issuer == "" || m.Subject == "" {
			return errors.New("a member needs a subject, and an issuer if login.issuer is not set")
		}
		if !slices.Contains([]store.Role{store.Viewer, store.Writer, store.Admin}, m.Role) {
			return fmt.Errorf("member %s: unknown role %q (known: viewer, writer, admin)", m.Subject, m.Role)
		}
		at := slices.IndexFunc(have, func(h store.Member) bool { return h.Issuer == m.Issuer && h.Subject == m.Subject })
		if at >= 0 {
			same := have[at].Role == m.Role
			if have = slices.Delete(have, at, at+1); same {
				continue
			}
		}
		p.add(func(ctx context.Context, in *store.Store, project int64) error {
			account, err := in.Invite(ctx, m.Issuer, m.Subject)
			if err != nil {
				return err
			}
			return in.SetMember(ctx, project, account.ID, m.Role)
		}, "give %s at %s the role %s", m.Subject, m.Issuer, m.Role)
	}
	for _, h := range have {
		p.remove(func(ctx context.Context, in *store.Store, project int64) error {
			return in.RemoveMember(ctx, project, h.ID)
		}, "%s %s at %s", h.Role, h.Subject, h.Issuer)
	}
	return nil
}

func (p *plan) rules(ctx context.Context, s *store.Store) error {
	if p.want.Rules == nil {
		return nil
	}
	have, err := part(ctx, p, s.Rules)
	if err != nil {
		return err
	}
	for _, w := range *p.want.Rules {
		rule := w.rule(p.project.Branch)
		if err := rule.Check(); err != nil {
			return err
		}
		if at := slices.IndexFunc(have, func(h store.Rule) bool { return reflect.DeepEqual(h.Rule, rule) }); at >= 0 {
			have = slices.Delete(have, at, at+1)
			continue
		}
		p.add(func(ctx context.Context, in *store.Store, project int64) error {
			_, err := in.AddRule(ctx, project, rule)
			return err
		}, "add the rule %s", ruleLine(rule))
	}
	for _, h := range have {
		p.remove(func(ctx context.Context, in *store.Store, project int64) error {
			return in.RemoveRule(ctx, project, h.ID)
		}, "the rule %s", ruleLine(h.Rule))
	}
	return nil
}

// wantedHook is a wanted hook of a project. Its secrets can be in a separate file.
type wantedHook struct {
	Kind       string `yaml:"kind"`
	URL        string `yaml:"url"`
	URLFile    string `yaml:"url_file"`
	Secret     string `yaml:"secret"`
	SecretFile string `yaml:"secret_file"`
}

func (w wantedHook) hook() (alert.Hook, error) {
	h := alert.Hook{Kind: w.Kind, URL: w.URL, Secret: w.Secret}
	for _, f := range []struct {
		path string
		into *string
	}{{w.URLFile, &h.URL}, {w.SecretFile, &h.Secret}} {
		if f.path == "" {
			continue
		}
		text, err := readBounded(f.path, maxSecret)
		if err != nil {
			return h, fmt.Errorf("cannot read the file of a hook: %w", err)
		}
		*f.into = strings.TrimSpace(string(text))
	}
	return h, nil
}

func (p *plan) hooks(ctx context.Context, s *store.Store) error {
	if p.want.Hooks == nil {
		return nil
	}
	have, err := part(ctx, p, s.Hooks)
	if err != nil {
		return err
	}
	for _, w := range *p.want.Hooks {
		hook, err := w.hook()
		if err == nil {
			err = checkHook(p.config, hook)
		}
		if err != nil {
			return err
		}
		at := slices.IndexFunc(have, func(h alert.Hook) bool { return h.Kind == hook.Kind && h.URL == hook.URL && h.Secret == hook.Secret })
		if at >= 0 {
			have = slices.Delete(have, at, at+1)
			continue
		}
		p.add(func(ctx context.Context, in *store.Store, project int64) error {
			_, err := in.AddHook(ctx, project, hook)
			return err
		}, "add the hook %s", hookLine(hook))
	}
	for _, h := range have {
		p.remove(func(ctx context.Context, in *store.Store, project int64) error {
			return in.RemoveHook(ctx, project, h.ID)
		}, "the hook %s", hookLine(h))
	}
	return nil
}

// part lists the project's objects of one kind; none if the project does not exist yet.
func part[T any](ctx context.Context, p *plan, list func(context.Context, int64) ([]T, error)) ([]T, error) {
	if p.fresh {
		return nil, nil
	}
	return list(ctx, p.project.ID)
}

// checkHook refuses a hook that nothing could be sent to.
func checkHook(c *config, h alert.Hook) error {
	switch h.Kind {
	case "mail":
		mail := c.mail()
		_, err := mail.Address(h.URL)
		return err
	case "slack":
	case "json":
		if len(h.Secret) < 16 || len(h.Secret) > 200 {
			return errors.New("a hook of kind json needs a secret of 16 to 200 bytes to sign messages")
		}
	default:
		return fmt.Errorf("unknown hook kind %q (known: slack, json, mail)", h.Kind)
	}
	return alert.CheckHook(h.URL, c.Hooks.AllowPrivate)
}

// hookLine names a hook without its secret parts. For Slack this is the whole path.
func hookLine(h alert.Hook) string {
	if h.Kind == "mail" {
		return "mail to " + strings.TrimPrefix(h.URL, "mailto:")
	}
	if u, err := url.Parse(h.URL); err == nil {
		return h.Kind + " at " + u.Scheme + "://" + u.Host + "/..."
	}
	return h.Kind
}
