/// What the command line asks for; nothing in it has been looked up yet.
struct DownloadArguments: Equatable {
    /// Where the files go.
    enum Place: Equatable {
        /// The current directory; the server or the URL names the file.
        case here
        /// A file, or a directory that exists.
        case path(String)
        case directory(String)
        case standardOutput
    }

    var urls: [String] = []
    /// The file with more URLs, "-" for standard input.
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
    /// Bytes a second.
    var rateLimit: Double?
    /// Seconds.
    var timeout = 15
    /// Seconds.
    var maximumTime: Int?
    var tries = 5
    var isQuiet = false
    var isJSON = false
    var asksForHelp = false
    var asksForVersion = false

    /// Why a command line cannot be carried out, as a sentence without its full stop.
    struct Mistake: Error, Equatable { let message: String }

    init() {}
}
