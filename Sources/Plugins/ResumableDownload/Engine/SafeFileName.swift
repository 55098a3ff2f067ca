import Errand
import ErrandHTTPSyntax
import ErrandSupport

/// Makes a file name from a server harmless in any directory.
enum SafeFileName {
    /// The name in `Content-Disposition`, else the last component of the final URL's path, else "download".
    static func choose(disposition: String?, url: URL) -> String {
        if let name = disposition.map(ContentDisposition.init(parsing:))?.fileName.flatMap(clean) { return name }
        return clean(url.path(percentEncoded: false)) ?? "download"
    }

    /// One component without a separator, a control or direction character, a leading or trailing dot or space, that no
    /// system reserves, of at most 200 bytes of UTF-8; nil if nothing is left.
    static func clean(_ name: String) -> String? {
        let last = name.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
        var scalars = String.UnicodeScalarView()
        for scalar in last.unicodeScalars where isAllowed(scalar) { scalars.append(scalar) }
        var text = String(scalars)
        // A leading dot hides the file; Windows drops a trailing dot or space.
        text = String(text.drop { $0 == "." || $0 == " " })
        while let end = text.last, end == "." || end == " " { text.removeLast() }
        text = shortened(text)
        if text.isEmpty { return nil }
        let stem = text.prefix { $0 != "." }.lowercased()
        let isReserved = reserved.contains(stem) || PartialFile.isOurs(text)
        return isReserved ? "_\(text)" : text
    }

    /// `film (2).mp4`
    static func numbered(_ name: String, _ number: Int) -> String {
        let (stem, ending) = split(name)
        return "\(stem) (\(number))\(ending)"
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Format characters reverse text, so that a name that reads `exe.jpg` may end in something else.
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: !"<>:\"|?*\0".unicodeScalars.contains(scalar)
        }
    }

    /// Shortened before its extension, between characters.
    private static func shortened(_ name: String) -> String {
        if name.utf8.count <= 200 { return name }
        var (stem, ending) = split(name)
        while stem.utf8.count + ending.utf8.count > 200 { stem.removeLast() }
        return stem + ending
    }

    private static func split(_ name: String) -> (stem: String, ending: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, name[dot...].utf8.count <= 20 else {
            return (name, "")
        }
        return (String(name[..<dot]), String(name[dot...]))
    }

    private static let reserved: Set<String> = Set(
        ["con", "prn", "aux", "nul", "conin$", "conout$"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] })
}
