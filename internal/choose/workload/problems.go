package workload

// The problems this package reports, all of kind Input, with File and Line, or with the argument Flag (such as
// "--deadline") where the value came from a flag. Key is the dotted key as the user writes it. Texts are as written
// by the user; figures carry their unit.
const (
	// The file as a whole.
	codeTooLarge     = "workload.too_large"     // Size, Limit: bytes
	codeEmpty        = "workload.empty"         // the file holds no keys
	codeEncoding     = "workload.encoding"      // Encoding: UTF-16LE, UTF-16BE, UTF-32LE, UTF-32BE or other; UTF-8 is wanted
	codeControl      = "workload.control"       // Char: a control character such as U+0000
	codeSyntax       = "workload.syntax"        // Detail: the YAML parser's own words (English)
	codeTooDeep      = "workload.too_deep"      // Limit: levels of nesting
	codeDocuments    = "workload.documents"     // a second YAML document in one file
	codeNotMapping   = "workload.not_mapping"   // Key ("" is the file): keys and values were wanted
	codeAnchor       = "workload.anchor"        // Name: an anchor or alias; they are not allowed
	codeTag          = "workload.tag"           // Tag: an explicit YAML tag; they are not allowed
	codeTooManyFault = "workload.too_many"      // Count: further faults that are not listed
	codeUnknownFlag  = "workload.unknown_flag"  // Flag; Suggest
	codeUnknownKey   = "workload.unknown_key"   // Key, Kind ("" where the kind is not known); Suggest
	codeDuplicateKey = "workload.duplicate_key" // Key, FirstLine
	codeNotForKind   = "workload.not_for_kind"  // Key, Kind, Kinds: the kinds it belongs to, comma-separated
	codeKeyNotText   = "workload.key_not_text"  // Key: the mapping that holds a key which is not plain text

	// What is missing.
	codeMissing       = "workload.missing"        // Key, Kind, Example
	codeMissingChoice = "workload.missing_choice" // Kind, Ways: "tokens | steps | epochs + dataset_tokens"
	codeTwoWays       = "workload.two_ways"       // Key, Other: two keys that say the same thing in two ways; Ways
	codeNeedsAlso     = "workload.needs_also"     // Key, Other: the key that must stand beside it
	codeEmptyValue    = "workload.empty_value"    // Key: a key without a value

	// One value.
	codeWrongType    = "workload.wrong_type"    // Key, Type: what is wanted, Got: mapping, list or text
	codeBadValue     = "workload.bad_value"     // Key, Value, Type, Example
	codeOutOfBounds  = "workload.out_of_bounds" // Key, Value, Min, Max: figures with the key's unit
	codeUnknownName  = "workload.unknown_name"  // Key, Value, Type: provider, place, law, currency …; Suggest
	codeRepeated     = "workload.repeated"      // Key, Value: twice in one list
	codeListTooLong  = "workload.list_too_long" // Key, Count, Limit
	codeModelFile    = "workload.model_file"    // Key, Path, Detail: the model's config.json cannot be read
	codeSharesSum    = "workload.shares_sum"    // Key, Sum: shares of a measured time that do not sum to 1
	codeProfileHours = "workload.profile_hours" // Key, Count: a traffic profile is not of 24 hours
	codeProfilePeak  = "workload.profile_peak"  // Key: no hour of a traffic profile is above 0
	codeTraceFile    = "workload.trace_file"    // Key, Path, Detail: a trace of requests cannot be read
	codeTraceLine    = "workload.trace_line"    // Key, Path, Line: a line of a trace is not as wanted
	codeTraceShort   = "workload.trace_short"   // Key, Path, Count, Limit: too few requests, or all at one time
	codeScoresFile   = "workload.scores_file"   // Key, Path, Detail: results of a benchmark cannot be read
	codeScoresLine   = "workload.scores_line"   // Key, Path, Line: a line of such results is not as wanted
	codeScoresNone   = "workload.scores_none"   // Key, Path: no result of one known accelerator

	// Values that contradict each other. Key is where the fault is shown, Other the key it clashes with.
	codeMinAboveMax   = "workload.min_above_max"     // Key, Value, Other, OtherValue
	codeAllowedBanned = "workload.allowed_banned"    // Key, Value, Other: a provider both wanted and excluded
	codeOutsideLaw    = "workload.region_law"        // Key, Value: the region, Law: a law none of its places is under
	codeAboveLimit    = "workload.above_limit"       // Key, Accelerators, Other, Limit: more accelerators than a limit allows
	codeBatchDivide   = "workload.batch_indivisible" // Key, Batch, Parts: data parallel x micro-batch
	codeNoPipeline    = "workload.no_pipeline"       // Key, Other: virtual stages without a pipeline
	codeNotWith       = "workload.not_with"          // Key, Other, Value: a key that Other's value rules out
	codeModelClass    = "workload.model_class"       // Key, Model, Class, Kind: a network this kind of work cannot run
	codeNotForModel   = "workload.not_for_model"     // Key, Model, Class: a key that this network has no use for
	codeNotCache      = "workload.not_cache"         // Key, Format: a weight-only format for keys and values
	codeNotTrainable  = "workload.not_trainable"     // Key, Format: a weight-only format used for training
	codeContext       = "workload.context"           // Key, Tokens, Limit, Model: longer than the model's context
	codeCheckpoint    = "workload.checkpoint_late"   // Key, Value, Other, OtherValue: the first checkpoint is after the deadline
)
