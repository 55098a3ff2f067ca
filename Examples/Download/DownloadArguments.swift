import Errand

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the command line asks for.
struct DownloadArguments: Equatable {
    var url = ""
    var destination = URL(filePath: ".")
    /// The destination is a directory, and the server names the file.
    var isDirectory = false
    var sha256: String?
    var segments = 1
    var headers: [(name: String, value: String)] = []
    var tries = 5
    var timeout = 15
    var isQuiet = false
    var asksForHelp = false

    static let usage = """
        usage: errand-download URL DESTINATION
               errand-download URL --directory DIR

        Fetches URL into a file, and goes on where it was when it is run again after any interruption.

          --sha256 HEX              what the file has to add up to
          --segments N              ranges that are fetched at once, 1 to 16; 1 by default
          --header 'Name: value'    sent with every request to the URL's own origin; may be given several times
          --tries N                 tries in one run; 5 by default
          --timeout SECONDS         the longest silence in one try; 15 by default
          --quiet                   no progress

        The file's path is written to standard output. Exit status: 0 if the whole right file is there, 1 for a failure
        that another try may mend, 2 for one that it will not, 130 after an interrupt.
        """

    struct Mistake: Error, Equatable { let message: String }

    init(_ arguments: [String]) throws(Mistake) {
        var places: [String] = []
        var directory: String?
        var rest = arguments[...]
        var onlyPlaces = false
        func value(_ option: String) throws(Mistake) -> String {
            guard let value = rest.popFirst() else { throw Mistake(message: "\(option) needs a value") }
            return value
        }
        func number(_ option: String, _ range: ClosedRange<Int>) throws(Mistake) -> Int {
            guard let number = Int(try value(option)), range.contains(number) else {
                throw Mistake(message: "\(option) takes \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        while let argument = rest.popFirst() {
            if onlyPlaces || !argument.hasPrefix("-") {
                places.append(argument)
                continue
            }
            switch argument {
            case "--": onlyPlaces = true
            case "--help", "-h": asksForHelp = true
            case "--quiet", "-q": isQuiet = true
            case "--directory": directory = try value(argument)
            case "--sha256": sha256 = try value(argument)
            case "--segments": segments = try number(argument, 1...16)
            case "--tries": tries = try number(argument, 1...1000)
            case "--timeout": timeout = try number(argument, 1...86_400)
            case "--header": headers.append(try Self.header(try value(argument)))
            default: throw Mistake(message: "\(argument) is not known")
            }
        }
        if asksForHelp { return }
        guard places.count == (directory == nil ? 2 : 1), let first = places.first else {
            throw Mistake(message: "a URL and a destination, or --directory, are needed")
        }
        let scheme = first.prefix { $0 != ":" }.lowercased()
        guard ["http", "https"].contains(scheme) else { throw Mistake(message: "the URL is neither http nor https") }
        url = first
        isDirectory = directory != nil
        let place = directory ?? places[1]
        if place.isEmpty { throw Mistake(message: "the destination is empty") }
        destination = URL(filePath: place, directoryHint: isDirectory ? .isDirectory : .inferFromPath).absoluteURL
    }

    private static func header(_ text: String) throws(Mistake) -> (name: String, value: String) {
        guard let colon = text.firstIndex(of: ":"), HTTPHeaderName(String(text[..<colon])).isValid else {
            throw Mistake(message: "--header takes 'Name: value'")
        }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        return (String(text[..<colon]), String(value))
    }

    static func == (a: Self, b: Self) -> Bool {
        a.url == b.url && a.destination == b.destination && a.isDirectory == b.isDirectory && a.sha256 == b.sha256
            && a.segments == b.segments && a.headers.map { "\($0)" } == b.headers.map { "\($0)" }
            && a.tries == b.tries && a.timeout == b.timeout && a.isQuiet == b.isQuiet && a.asksForHelp == b.asksForHelp
    }
}
