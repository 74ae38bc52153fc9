package accept_test

import (
	"crosstalk/gate/accept"
	"crosstalk/report/results"
)

func init() { accept.Write = results.WriteAcceptance }
