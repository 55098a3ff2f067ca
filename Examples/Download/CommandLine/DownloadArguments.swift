/// The parsed command line, before any file or name is looked up.
struct DownloadArguments: Equatable {
    /// Where to save the files.
    enum Place: Equatable {
        /// The current directory. The server or the URL names the file.
        case here
        /// A file, or an existing directory.
        case path(String)
        case directory(String)
        case standardOutput
    }

    var urls: [String] = []
    /// The file that lists more URLs, "-" for standard input.
    var input: String?
    var place = Place.here
    var overwrites = false
    var skipsExisting = false
    var keepsRemoteTime = false
    var parallel = 4
    var segments = 1
    var sha256: String?
    /// `Name: value` or `@file`.
    var headers: [String] = []
    /// `name` or `name:password`.
    var user: String?
    var usesNetrc = false
    var netrcFile: String?
    var proxy: String?
    var noProxy: [String] = []
    var caFile: String?
    var family: Int?
    /// The maximum rate in bytes per second.
    var rateLimit: Double?
    /// How many seconds the server may be silent.
    var timeout = 15
    /// The maximum number of seconds for each URL, including all attempts and waits.
    var maximumTime: Int?
    var tries = 5
    var isQuiet = false
    var isJSON = false
    var asksForHelp = false
    var asksForVersion = false

    /// Why the command line can't be carried out, as a sentence without its period.
    struct Mistake: Error, Equatable { let message: String }

    init() {}
}
