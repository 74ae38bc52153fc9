//go:build unix

package ollama

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A server is an Ollama that can be killed and started again, with one model in memory and a short queue, so that it is
// soon busy.
type server struct {
	program, dir string // dir has its models and its log
	address      string
	command      *exec.Cmd // nil: not running
}

func newServer(program, dir string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return &server{program: program, dir: dir, address: l.Addr().String()}, nil
}

func (s *server) environment() []string {
	return append(os.Environ(), "HOME="+s.dir, "OLLAMA_HOST="+s.address, "OLLAMA_MODELS="+filepath.Join(s.dir, "models"),
		"OLLAMA_NUM_PARALLEL=1", "OLLAMA_MAX_LOADED_MODELS=1", "OLLAMA_MAX_QUEUE=4")
}

// start returns when the server answers.
func (s *server) start() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	s.command = exec.Command(s.program, "serve")
	s.command.Env, s.command.Stdout, s.command.Stderr = s.environment(), log, log
	s.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.command.Start(); err != nil {
		s.command = nil
		return err
	}
	for range 600 {
		if r, err := http.Get("http://" + s.address + "/api/version"); err == nil {
			r.Body.Close()
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.kill()
	text, _ := os.ReadFile(log.Name())
	return fmt.Errorf("ollama serve does not answer within a minute:\n%s", last(string(text), 10))
}

// kill ends the server and the process in which the model runs.
func (s *server) kill() {
	if s.command != nil {
		syscall.Kill(-s.command.Process.Pid, syscall.SIGKILL)
		s.command.Wait()
		s.command = nil
	}
}

// create gives the server a model.
func (s *server) create(name string, gguf []byte) error {
	file := filepath.Join(s.dir, name)
	if err := os.WriteFile(file+".gguf", gguf, 0o644); err != nil {
		return err
	}
	modelfile := "FROM " + file + ".gguf\nTEMPLATE \"\"\"{{ .System }} {{ .Prompt }}\"\"\"\nPARAMETER num_ctx 2048\n"
	if err := os.WriteFile(file+".modelfile", []byte(modelfile), 0o644); err != nil {
		return err
	}
	c := exec.Command(s.program, "create", name, "-f", file+".modelfile")
	c.Env = s.environment()
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("ollama create %s: %w\n%s", name, err, last(string(out), 5))
	}
	return nil
}

const (
	routeHeader = "X-Gateway-Route"
	keyHeader   = "X-Gateway-Key"
	gatewayKey  = "secret-of-the-gateway"
)

// newGateway passes on to the server what has the gateway's headers, and refuses the rest.
func newGateway(address string) *httptest.Server {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	proxy.ErrorLog = nil
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		refuse(w, http.StatusBadGateway, "the gateway cannot reach its upstream")
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get(routeHeader) == "":
			refuse(w, http.StatusBadRequest, strings.ToLower(routeHeader)+" header is required")
		case r.Header.Get(routeHeader) != "ollama" || r.Header.Get(keyHeader) != gatewayKey:
			refuse(w, http.StatusUnauthorized, "unknown route or key")
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error": {"message": %q}}`, message)
}
