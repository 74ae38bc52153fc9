package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// server is a local server with OpenAI's API.
type server struct {
	*httptest.Server
	mu           sync.Mutex
	began, ended time.Time // the first request, and the last answer
}

// address is always the same, since it is a part of what makes two runs shards of one measurement.
const address = "127.0.0.1:27182"

// serve starts a server that answers after a delay.
func serve(delay time.Duration) (*server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.began.IsZero() {
			s.began = time.Now()
		}
		s.mu.Unlock()
		var asked struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
			http.Error(w, "expected messages", http.StatusBadRequest)
			return
		}
		time.Sleep(delay)
		prompt := asked.Messages[len(asked.Messages)-1].Content
		h := fnv.New32a()
		h.Write([]byte(prompt))
		text, _ := json.Marshal(replyTo(prompt, int(h.Sum32())))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":12,"completion_tokens":40,"total_tokens":52}}`, text)
		s.mu.Lock()
		s.ended = time.Now()
		s.mu.Unlock()
	}))
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	return s, nil
}

// language is a language with a prompt and an answer in it.
type language struct{ code, prompt, answer string }

var languages = []language{
	{"en", "Tell me something about the number",
		"The number is well known, and people have counted with it for a very long time."},
	{"de", "Erzähle mir etwas über die Zahl",
		"Die Zahl ist gut bekannt, und die Menschen rechnen schon sehr lange mit ihr."},
	{"fr", "Raconte-moi quelque chose sur le nombre",
		"Ce nombre est bien connu, et les gens comptent avec lui depuis très longtemps."},
	{"es", "Cuéntame algo sobre el número",
		"El número es muy conocido, y la gente cuenta con él desde hace mucho tiempo."},
	{"it", "Raccontami qualcosa sul numero",
		"Il numero è ben conosciuto, e la gente lo usa per contare da molto tempo."},
	{"pt", "Conte-me algo sobre o número",
		"O número é bem conhecido, e as pessoas contam com ele há muito tempo."},
}

// replyTo answers a prompt in its language, and now and then in English.
func replyTo(prompt string, seed int) string {
	for i, l := range languages {
		if strings.HasPrefix(prompt, l.prompt) {
			return reply(seed - seed%len(languages) + i)
		}
	}
	return languages[0].answer
}

// reply is the answer to the prompt of this number.
func reply(i int) string {
	answer := languages[i%len(languages)].answer
	if i%97 == 0 {
		answer = languages[0].answer
	}
	return strings.Repeat(answer+" ", 1+i%3) + fmt.Sprintf("(%d)", i%1000)
}
