package web

import (
	"net/http"
	"net/url"
	"strings"

	"crosstalk/web/access"
)

// guard refuses requests that this server should not answer.
func (s *Server) guard(next http.Handler) http.Handler {
	return access.Rules{Hosts: s.options.Hosts, Anyhow: s.options.Token != "", Body: mostBody,
		Command: "crosstalk serve", Admit: s.admit, Refuse: s.refuse}.Guard(next)
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	s.fail(w, r, &access.Error{Status: status, Message: message})
}

// mostBody is the maximum size of a form in bytes.
const mostBody = 64 << 10

// cookie is the name of the cookie that contains the token.
const cookie = "crosstalk-token"

// admit lets a request with the token pass. It moves a token in the URL to a
// cookie, so that the token does not stay in the browser's history.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if s.options.Token == "" {
		return true
	}
	if c, err := r.Cookie(cookie); err == nil && access.Equal(c.Value, s.options.Token) {
		return true
	}
	query := r.URL.Query()
	if !access.Equal(query.Get("token"), s.options.Token) {
		s.fail(w, r, &access.Error{Status: http.StatusUnauthorized,
			Message: "Token missing. Open the address that 'crosstalk serve' printed when it started; it contains the token."})
		return false
	}
	// Lax: links from other sites work, and are harmless since reading changes
	// nothing. Forms of other sites come without the cookie.
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.options.Token, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
	query.Del("token")
	to := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	http.Redirect(w, r, "/"+strings.TrimLeft(to.String(), "/"), http.StatusSeeOther)
	return false
}
