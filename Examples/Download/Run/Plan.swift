import Errand
import ErrandEssentials

/// Everything the command needs, looked up and checked before any request is sent.
struct Plan {
    typealias Mistake = DownloadArguments.Mistake

    struct Target: Sendable {
        var item: ReportItem
        var url: TargetURL
        var authorization: Authorization?
    }

    var arguments: DownloadArguments
    var targets: [Target] = []
    var headers = HTTPHeaders()
    /// An absolute URL, or nil for standard output.
    var destination: URL?
    /// Warnings to show before the start.
    var warnings: [String] = []

    /// Reads lists, netrc and header files, and asks for passwords. Blocks.
    init(_ arguments: DownloadArguments) throws(Mistake) {
        self.arguments = arguments
        destination = try Self.destination(arguments)
        headers = try HeaderLines.parse(arguments.headers)
        var typed = arguments.urls
        if let input = arguments.input { typed += try InputList.read(input) }
        if typed.count > 1, arguments.place != .here, let destination, !InputFile.isDirectory(destination.path) {
            throw Mistake(
                message: "several URLs need an existing directory as their destination, but "
                    + "\(TextLayout.printable(destination.path)) isn't one")
        }
        var urls: [TargetURL] = []
        for text in typed {
            let url = try TargetURL(text)
            // Drop repeated URLs: they would write the same file.
            if arguments.place == .standardOutput || !urls.contains(url) { urls.append(url) }
        }
        var credentials = Credentials(
            user: arguments.user, netrc: try netrc(),
            ask: { prompt throws(Mistake) in try PasswordPrompt.ask(prompt) })
        for (index, url) in urls.enumerated() {
            let item = ReportItem(index: index + 1, count: urls.count, url: url.masked, name: name(of: url))
            targets.append(Target(item: item, url: url, authorization: try credentials.authorization(for: url)))
        }
    }

    /// The file's name, unless the server provides another.
    private func name(of url: TargetURL) -> String {
        guard let destination, !InputFile.isDirectory(destination.path) else { return url.name }
        return TextLayout.printable(destination.lastPathComponent)
    }

    private mutating func netrc() throws(Mistake) -> Netrc? {
        guard arguments.usesNetrc || arguments.netrcFile != nil else { return nil }
        let path: String
        if let file = arguments.netrcFile {
            path = file
        } else if let home = InputFile.home {
            path = home + "/.netrc"
        } else {
            throw Mistake(message: "no home directory was found for --netrc; pass the file with --netrc-file")
        }
        let shown = TextLayout.printable(path)
        let data = try InputFile.read(path, limit: 1 << 20, for: shown)
        if InputFile.isShared(path) {
            warnings.append("warning: other users can read the passwords in \(shown); run chmod 600 on it")
        }
        return Netrc(String(decoding: data, as: UTF8.self))
    }

    private static func destination(_ arguments: DownloadArguments) throws(Mistake) -> URL? {
        let here = FileManager.default.currentDirectoryPath
        func absolute(_ path: String) throws(Mistake) -> String {
            if path.hasPrefix("/") { return path }
            if here.isEmpty { throw Mistake(message: "the current directory no longer exists") }
            let parts = path.split(separator: "/", omittingEmptySubsequences: false).filter { $0 != "." }
            return (here == "/" ? "" : here) + "/" + parts.joined(separator: "/")
        }
        switch arguments.place {
        case .standardOutput: return nil
        case .here: return URL(filePath: try absolute(""), directoryHint: .isDirectory)
        case .path(let path):
            let place = try absolute(path)
            if path.hasSuffix("/") { return try directory(place) }
            let hint: URL.DirectoryHint =
                InputFile.isDirectory(place) ? .isDirectory : .notDirectory
            return URL(filePath: place, directoryHint: hint)
        case .directory(let path): return try directory(try absolute(path))
        }
    }

    private static func directory(_ path: String) throws(Mistake) -> URL {
        guard InputFile.isDirectory(path) else {
            let shown = TextLayout.printable(path)
            throw Mistake(
                message: InputFile.exists(path)
                    ? "\(shown) is not a directory" : "the directory \(shown) does not exist; create it first")
        }
        return URL(filePath: path, directoryHint: .isDirectory)
    }
}
