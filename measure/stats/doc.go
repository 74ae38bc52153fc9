// Package stats turns observations into figures one can trust: means with
// intervals that cover, comparisons that do not cry wolf, agreement between
// raters, and the size a study needs.
//
// Undefined figures are NaN, never 0. What makes a figure doubtful is a
// Warning in its result. Random methods take a seed and give the same result
// on every machine. Panics are for programmers' errors (a level of 1.5, slices
// of unequal length), never for data.
//
// # Which interval
//
// Observations of the instruments are clustered: leakage tests share control
// answers, samples share an item. Mean is the interval for all of them: the
// CR2 standard error of cluster sums, Student's t with the degrees of freedom
// of Imbens and Kolesár (2016), symmetric on the logit scale. The usual
// percentile bootstrap over clusters covers far less than it says when
// clusters are few and uneven or rates are high.
package stats
