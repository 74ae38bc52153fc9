package annotate

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency/review"
	"crosstalk/labels"
	"crosstalk/study"
	"crosstalk/web/access"
)

// Instructions is the name of the review of rewritten instructions. Its answers
// are not labels: they are in the run's instructions.yaml.
const Instructions = "instructions"

// instructions reads the rewritten instructions of the run.
func (s *Server) instructions() ([]review.Instruction, error) {
	return review.ReadRunInstructions(s.instructionsFile())
}

func (s *Server) instructionsFile() string { return filepath.Join(s.run, study.InstructionsFile) }

// instructionPage shows one rewritten instruction.
type instructionPage struct {
	frame
	review.Instruction
	From, To       string // languages or other senses
	At             int    // from 1
	Of             int
	Done           int
	Previous, Next int // 0: none
	Version        string
	Trouble        string
}

// version identifies the content of an instruction: who approves it approves what was shown.
func version(in review.Instruction) string {
	sum := sha256.Sum256(crosstalk.Canonical(in))
	return hex.EncodeToString(sum[:8])
}

// instruction shows the rewritten instruction with the number "n", or the first one that is not approved.
func (s *Server) instruction(w http.ResponseWriter, r *http.Request, _ string) error {
	at, _ := strconv.Atoi(r.URL.Query().Get("n"))
	return s.showInstruction(w, r, at, "")
}

func (s *Server) showInstruction(w http.ResponseWriter, r *http.Request, at int, trouble string) error {
	list, err := s.instructions()
	if err != nil {
		return err
	}
	if !s.reviews || len(list) == 0 {
		return errNothing
	}
	p := instructionPage{Of: len(list), Trouble: trouble}
	first := 0
	for i, in := range list {
		if in.Approved {
			p.Done++
		} else if first == 0 {
			first = i + 1
		}
	}
	if at == 0 {
		at = first
	}
	if at == 0 {
		p.frame = s.frame(r, "All instructions are approved")
		s.show(w, r, http.StatusOK, "approved.html", p)
		return nil
	}
	if at < 1 || at > len(list) {
		return errNothing
	}
	p.frame = s.frame(r, "Instruction "+strconv.Itoa(at)+" of "+strconv.Itoa(len(list)))
	p.At, p.Instruction, p.Version = at, list[at-1], version(list[at-1])
	p.From, p.To = labels.LanguageName(string(p.Sense.Origin())), labels.LanguageName(p.Sense.Target())
	p.Previous = at - 1
	if at < len(list) {
		p.Next = at + 1
	}
	status := http.StatusOK
	if trouble != "" {
		status = http.StatusUnprocessableEntity
	}
	s.show(w, r, status, "instructions.html", p)
	return nil
}

// review saves what the annotator made of a rewritten instruction.
func (s *Server) review(w http.ResponseWriter, r *http.Request, annotator string) error {
	if err := r.ParseForm(); err != nil {
		return formError(err)
	}
	at, _ := strconv.Atoi(r.PostForm.Get("n"))
	trouble, err := s.saveInstruction(r, at, annotator)
	if err != nil {
		return err
	}
	if trouble != "" {
		return s.showInstruction(w, r, at, trouble)
	}
	to := "/" + Instructions
	if r.PostForm.Get("verdict") != "approve" {
		to += "?n=" + strconv.Itoa(at)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// saveInstruction writes an instruction as it was edited. It returns what keeps it from being approved.
func (s *Server) saveInstruction(r *http.Request, at int, annotator string) (trouble string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.instructions()
	if err != nil {
		return "", err
	}
	if at < 1 || at > len(list) {
		return "", errNothing
	}
	in := &list[at-1]
	if r.PostForm.Get("version") != version(*in) {
		return "Somebody has changed this instruction meanwhile. This is how it is now.", nil
	}
	texts, words := r.PostForm["text"], r.PostForm["wording"]
	if len(texts) != len(in.Parts) || len(words) != len(in.Words) {
		return "", &access.Error{Status: http.StatusBadRequest, Message: "The form has been changed."}
	}
	for i, text := range texts {
		in.Parts[i].Text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	for i, word := range words {
		in.Words[i].Word = strings.TrimSpace(word)
	}
	in.Approved, in.Reviewer = r.PostForm.Get("verdict") == "approve", annotator
	if in.Approved {
		for _, p := range in.Parts {
			if p.Source != "" && strings.TrimSpace(p.Text) == "" {
				return "The part " + p.Part + " has no text.", nil
			}
		}
		for _, word := range in.Words {
			if word.Word == "" {
				return "The class " + word.Class + " has no answer word.", nil
			}
		}
	}
	return "", review.WriteInstructions(s.instructionsFile(), list)
}

// home shows what there is to answer, or asks for a name.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	annotator := s.annotator(r)
	if annotator == "" {
		s.show(w, r, http.StatusOK, "name.html", s.frame(r, "Who answers?"))
		return
	}
	type kind struct {
		Title, To string
		Done, Of  int
	}
	var kinds []kind
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.sheets {
		st, err := s.stateOf(q, annotator)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		kinds = append(kinds, kind{q.Question.Title, "/" + q.Question.Name, st.done, len(st.asked)})
	}
	if s.reviews {
		list, err := s.instructions()
		if err != nil {
			s.fail(w, r, err)
			return
		}
		done := 0
		for _, in := range list {
			if in.Approved {
				done++
			}
		}
		kinds = append(kinds, kind{"Are the instructions translated well?", "/" + Instructions, done, len(list)})
	}
	if len(kinds) == 1 {
		http.Redirect(w, r, kinds[0].To, http.StatusSeeOther)
		return
	}
	s.show(w, r, http.StatusOK, "home.html", struct {
		frame
		Kinds []kind
	}{s.frame(r, "Questions"), kinds})
}
