package oracle

import (
	"fmt"
	"muster/regress"
	"slices"
)

// A property is what the oracle asserts. A failing round names it.
type property string

// The properties. The letters are those of the oracle's definition.
const (
	identicalIsEqual  property = "a: identical and flaky need a run that equals the golden"
	wholeRunsCount    property = "a: parts that match in different runs do not add up"
	endingsAreASet    property = "a: a flaky ending covers the endings seen at record alone"
	holesHideNothing  property = "a: a difference at a place that never varied is a change"
	otherShapesCount  property = "a: a flaky part in a shape that it never had is a change"
	acceptedIsEqual   property = "b: an accepted case is identical next time"
	resumedIsFresh    property = "c: a resumed run equals a fresh one or refuses"
	resumeRunsAgain   property = "c: a resume runs finished cases again, at least 3 of them"
	changeIsSeen      property = "c: a resume refuses what files or settings show before it runs a case"
	resumeGoesOn      property = "c: a resume goes on when nothing changed"
	changesAreNamed   property = "c: a check names the tool's files that are not those recorded"
	changeIsForgotten property = "c: what ran before the tool changed gets no verdict"
	shardsAreWhole    property = "d: the verdicts of partitions are those of the whole"
	shardsMerge       property = "d: merged goldens and merged runs equal the whole"
	equalIsIdentical  property = "e: a run that equals the golden at once is identical"
	flakyIsBoth       property = "e: one run equals the golden and one does not: flaky"
	flakyAtLimits     property = "e: likewise where the golden's runs were ended by a limit"
	classIsOfARun     property = "e: the class is that of a run"
	unstableClass     property = "e: the class of runs that end differently is that of one of them"
	unstableIsMarked  property = "e: runs that differ from each other are marked unstable"
	runsAreMade       property = "e: every case gets its runs, fresh ones"
	eachCaseOnce      property = "e: each case has one verdict, and the summary counts it"
	statusFollows     property = "e: the exit status follows from the verdicts"
	maskedIsCounted   property = "f: what is not compared is counted"
	differedOnce      property = "f: an interrupted check reports what differed once"
	keptIsSaid        property = "f: an interrupted record reports how many cases it kept"
	environmentIsSaid property = "g: a failure of the machine is no outcome"
	flipIsACause      property = "h: a case that ends otherwise has one cause for that"
	restHasCauses     property = "h: nothing else that changed is without a cause"
	flipIsAlone       property = "h: an accept of that cause takes no case that has others"
)

// violation is a property that a verdict breaks.
type violation struct {
	property property
	why      string
}

// runsOf is what a command, with what it resumed, knows of one case.
type runsOf struct {
	faces []face
	exact bool // they are all, and the verdict rests on each
}

// compareWithTruth compares the verdict on a case with the truth.
func compareWithTruth(g *truth, runs runsOf, v regress.Verdict) *violation {
	if g.vague || len(runs.faces) == 0 {
		return nil
	}
	answers := map[answer]int{}
	var classes []regress.Verdict
	var reasons []reason
	for _, f := range runs.faces {
		a, why := g.compare(f)
		answers[a]++
		reasons = append(reasons, why...)
		if a != yes {
			classes = append(classes, g.classes(f)...)
		}
	}
	broken := func(p property) *violation {
		return &violation{p, fmt.Sprintf("%s, golden %v, runs %v: %v", v.Key(), g.samples, runs.faces, answers)}
	}
	equal := answers[yes]+answers[maybe] > 0
	differs := answers[no]+answers[maybe] > 0
	switch {
	case v == regress.EnvironmentFailed, v == regress.New, v == regress.Missing:
		return broken(eachCaseOnce)
	case (v == regress.Identical || v == regress.Flaky) && !equal:
		return broken(g.whyNot(runs.faces))
	case v == regress.Identical && runs.exact && answers[no] > 0:
		if p := g.whyNot(runs.faces[:1]); p != identicalIsEqual {
			return broken(p)
		}
		return broken(flakyIsBoth)
	case v == regress.Identical:
		return nil
	case !differs && g.older != nil:
		return broken(acceptedIsEqual)
	case !differs:
		return broken(equalIsIdentical)
	case v == regress.Flaky, answers[yes] > 0 && !runs.exact: // a run of a resume's sample is not kept
		return nil
	case answers[yes] > 0 && g.base().ending.Partial():
		return broken(flakyAtLimits)
	case answers[yes] > 0:
		return broken(flakyIsBoth)
	case slices.Contains(classes, v), g.inherits((*truth).unknown):
		return nil
	case slices.Contains(reasons, outsideSet):
		return broken(endingsAreASet)
	case varies(runs.faces):
		return broken(unstableClass)
	}
	return broken(classIsOfARun)
}

// whyNot names the property that a verdict breaks which takes runs as equal that are not.
func (g *truth) whyNot(runs []face) property {
	for _, f := range runs {
		_, why := g.compare(f)
		switch {
		case slices.Contains(why, otherEnding), slices.Contains(why, otherPart):
		case slices.Contains(why, otherShape):
			return otherShapesCount
		case slices.Contains(why, besideHoles):
			return holesHideNothing
		default:
			return endingsAreASet
		}
	}
	if varies(runs) {
		return wholeRunsCount
	}
	return identicalIsEqual
}
