package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Cookies: one for a login, one for a login in progress.
const (
	sessionCookie = "pawl_session"
	attemptCookie = "pawl_login"
	attemptFor    = 10 * time.Minute
)

// loginRoutes registers the routes of a login. The page that offers to log in (GET /login) is one of the
// pages: it links to /login/start?next=PATH. Logging out is a form that posts to /logout.
func (s *Server) loginRoutes(mux *http.ServeMux) {
	for pattern, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /login/start": s.startLogin, "GET /login/callback": s.finishLogin, "POST /logout": s.logout,
	} {
		_, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			requestInfoOf(r).route = path
			if err := do(w, r); err != nil {
				s.refuse(w, r, err)
			}
		})
	}
}

// attempt is the state of a login that must be known when the browser returns.
type attempt struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Next     string    `json:"p"`
	Until    time.Time `json:"u"`
}

func newAttempt(next string, now time.Time) attempt {
	return attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next, Until: now.Add(attemptFor)}
}

func (s *Server) startLogin(w http.ResponseWriter, r *http.Request) error {
	if s.login == nil {
		return problem(http.StatusNotFound, "login", "login is not available: the server has no login issuer")
	}
	where, a, err := s.login.begin(r.Context(), ownPath(r.URL.Query().Get("next")))
	if err != nil {
		return err
	}
	s.setCookie(w, attemptCookie, s.seal(a), attemptFor)
	http.Redirect(w, r, where, http.StatusSeeOther) //nolint:gosec // the issuer's own address, from its document
	return nil
}

func (s *Server) finishLogin(w http.ResponseWriter, r *http.Request) error {
	if s.login == nil {
		return problem(http.StatusNotFound, "login", "login is not available")
	}
	cookie, err := r.Cookie(s.cookieName(attemptCookie))
	if err != nil {
		return problem(http.StatusBadRequest, "login", "the login was started elsewhere or too long ago: start again")
	}
	s.setCookie(w, attemptCookie, "", -1) // it is valid only once
	a, ok := s.open(cookie.Value)
	if !ok {
		return problem(http.StatusBadRequest, "login", "the login was started elsewhere or too long ago: start again")
	}
	who, err := s.login.finish(r.Context(), a, r.URL.Query())
	if err != nil {
		return err
	}
	account, err := s.store.SignIn(r.Context(), s.login.Issuer, who.Subject, who.shown(), who.address())
	if err != nil {
		return err
	}
	if old, err := r.Cookie(s.cookieName(sessionCookie)); err == nil {
		_ = s.store.EndLogin(r.Context(), old.Value) // one login per browser; an old one also expires
	}
	// A new value for every login prevents session fixation.
	session := rand.Text() + rand.Text()
	if err := s.store.AddLogin(r.Context(), session, account.ID, s.now().Add(s.lifetime)); err != nil {
		return err
	}
	s.setCookie(w, sessionCookie, session, s.lifetime)
	http.Redirect(w, r, a.Next, http.StatusSeeOther)
	return nil
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	if cookie, err := r.Cookie(s.cookieName(sessionCookie)); err == nil {
		if err := s.store.EndLogin(r.Context(), cookie.Value); err != nil {
			return err
		}
	}
	s.setCookie(w, sessionCookie, "", -1)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// ownPath returns a local path to return to, whatever the link contained.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || len(next) > 500 || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") ||
		u.Host != "" || u.Scheme != "" || strings.HasPrefix(next, "/login") {
		return "/"
	}
	return next
}

// cookieName adds the prefix that makes browsers bind a cookie to this host and to TLS.
func (s *Server) cookieName(name string) string {
	if s.url.Scheme == "https" {
		return "__Host-" + name
	}
	return name
}

// setCookie sets a cookie that scripts cannot read and cross-site requests do not carry. A negative age
// deletes it.
func (s *Server) setCookie(w http.ResponseWriter, name, value string, age time.Duration) {
	c := &http.Cookie{ //nolint:gosec // Secure wherever there is TLS: without is for one's own machine
		Name: s.cookieName(name), Value: value, Path: "/", MaxAge: int(age / time.Second),
		Secure: s.url.Scheme == "https", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if age < 0 {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// seal signs an attempt, so that the browser can hold it.
func (s *Server) seal(a attempt) string {
	text, err := json.Marshal(a)
	if err != nil { // a clock after the year 9999
		return ""
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	return body + "." + base64.RawURLEncoding.EncodeToString(s.sign(body))
}

// open decodes an attempt if its signature is valid and it has not expired.
func (s *Server) open(sealed string) (attempt, bool) {
	body, mac, _ := strings.Cut(sealed, ".")
	sum, err := base64.RawURLEncoding.DecodeString(mac)
	if err != nil || !hmac.Equal(sum, s.sign(body)) {
		return attempt{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return attempt{}, false
	}
	var a attempt
	if err := json.Unmarshal(text, &a); err != nil || !s.now().Before(a.Until) {
		return attempt{}, false
	}
	return a, true
}

func (s *Server) sign(text string) []byte {
	m := hmac.New(sha256.New, s.secret)
	m.Write([]byte("pawl login\n" + text))
	return m.Sum(nil)
}
