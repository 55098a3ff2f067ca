/// Every option, in the order of `--help`.
enum OptionName: String, CaseIterable {
    // Destination.
    case output
    case directory
    case overwrite
    case noClobber = "no-clobber"
    case remoteTime = "remote-time"
    // Sources.
    case input
    case parallel
    case segments
    case sha256
    // Identity and network.
    case header
    case user
    case netrc
    case netrcFile = "netrc-file"
    case proxy
    case noProxy = "no-proxy"
    case cacert
    case ipv4
    case ipv6
    // Time and rate.
    case limitRate = "limit-rate"
    case timeout
    case maxTime = "max-time"
    case tries
    // Output.
    case quiet
    case json
    case version
    case help

    /// `--limit-rate`
    var long: String { "--\(rawValue)" }

    init?(long: Substring) {
        self.init(rawValue: String(long))
    }

    init?(short: Character) {
        guard let name = Self.allCases.first(where: { $0.short == short }) else { return nil }
        self = name
    }

    /// The letter after a single dash.
    var short: Character? {
        switch self {
        case .output: "o"
        case .directory: "d"
        case .input: "i"
        case .parallel: "j"
        case .header: "H"
        case .user: "u"
        case .netrc: "n"
        case .proxy: "x"
        case .remoteTime: "R"
        case .ipv4: "4"
        case .ipv6: "6"
        case .tries: "t"
        case .quiet: "q"
        case .version: "V"
        case .help: "h"
        default: nil
        }
    }

    /// The value's name in the help, or nil for an option without a value.
    var placeholder: String? {
        switch self {
        case .output, .input, .netrcFile, .cacert: "FILE"
        case .directory: "DIR"
        case .parallel, .segments, .tries: "N"
        case .sha256: "HEX"
        case .header: "'NAME: VALUE'"
        case .user: "NAME[:PASSWORD]"
        case .proxy: "URL"
        case .noProxy: "HOSTS"
        case .limitRate: "RATE"
        case .timeout, .maxTime: "SECONDS"
        default: nil
        }
    }
}
