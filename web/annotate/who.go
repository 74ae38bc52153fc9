package annotate

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"crosstalk/internal/visible"
	"crosstalk/web/access"
)

// annotator is who sends a request, "" if that is not known.
func (s *Server) annotator(r *http.Request) string {
	c, err := r.Cookie(s.cookie)
	if err != nil {
		return ""
	}
	if len(s.options.Annotators) == 0 {
		name, err := url.QueryUnescape(c.Value)
		if err != nil || checkName(name) != nil {
			return ""
		}
		return name
	}
	return s.holder(c.Value)
}

// holder is the annotator with this token, "" if nobody has it.
func (s *Server) holder(token string) (name string) {
	for _, a := range s.options.Annotators {
		if access.Equal(token, s.design.Token(a)) {
			name = a
		}
	}
	return name
}

// admit lets a request with a token pass, and any where there are none. It moves
// a token in the URL to a cookie, so that the token does not stay in the
// browser's history.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if len(s.options.Annotators) == 0 {
		return true
	}
	if token := r.URL.Query().Get("token"); token != "" && s.holder(token) != "" && r.URL.Path == "/" {
		s.setCookie(w, token)
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return false
	}
	if s.annotator(r) == "" {
		s.fail(w, r, &access.Error{Status: http.StatusUnauthorized,
			Message: "Token missing. Open the address that you were given; it contains your token."})
		return false
	}
	return true
}

// setCookie keeps who the annotator is for a month. Lax: the address can be a
// link in a message; what other sites send is refused (access.Rules).
func (s *Server) setCookie(w http.ResponseWriter, value string) {
	age := 30 * 24 * 60 * 60
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
}

// longestName is the maximum length of an annotator's name in characters.
const longestName = 80

// checkName returns an error if a name of an annotator cannot be kept.
func checkName(name string) error {
	plain := name == strings.TrimSpace(name) && name == visible.Line(name)
	if n := utf8.RuneCountInString(name); !plain || n < 1 || n > longestName {
		return fmt.Errorf("expected a name of 1 to %d characters", longestName)
	}
	return nil
}

// enter stores the name of an annotator.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSpace(r.PostFormValue("name"))
	if len(s.options.Annotators) > 0 {
		s.fail(w, r, errNothing)
		return
	}
	if err := checkName(name); err != nil {
		s.fail(w, r, &access.Error{Status: http.StatusBadRequest, Message: "Not a name: " + err.Error() + "."})
		return
	}
	s.setCookie(w, url.QueryEscape(name))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// leave forgets who the annotator is.
func (s *Server) leave(w http.ResponseWriter, r *http.Request) {
	s.setCookie(w, "")
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
