import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

enum SafeFileName {
    /// Returns the server's suggestion, or else the last component of the URL's path, or else "download".
    static func choose(disposition: String?, url: URL) -> String {
        if let name = disposition.map(ContentDisposition.init(parsing:))?.fileName.flatMap(clean) { return name }
        let segment = url.path(percentEncoded: true).split(separator: "/").last ?? ""
        return clean(decoded(segment)) ?? "download"
    }

    /// Falls back to Latin-1 if the bytes aren't valid UTF-8.
    private static func decoded(_ segment: Substring) -> String {
        guard let bytes = PercentEncoding.bytes(segment) else { return String(segment) }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    /// Returns a safe name of at most 200 UTF-8 bytes, or nil if no usable character is left. Compares scalars like
    /// file systems, not characters: a dot with an accent is a leading dot.
    static func clean(_ name: String) -> String? {
        let last = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? ""[...].unicodeScalars
        var scalars = String.UnicodeScalarView()
        for scalar in last where isAllowed(scalar) { scalars.append(scalar) }
        let text = fitted(scalars, to: maximumBytes)
        if text.isEmpty { return nil }
        return isReserved(text) ? "_" + fitted(text.unicodeScalars, to: maximumBytes - 1) : text
    }

    /// Trims and shortens a name until neither changes it, because each can require the other again.
    private static func fitted(_ name: String.UnicodeScalarView, to limit: Int) -> String {
        var name = name
        while true {
            let next = shortened(trimmed(name[...]), to: limit)
            if next.count == name.count { return String(name) }
            name = String.UnicodeScalarView(next)
        }
    }

    /// Returns a name such as `film (2).mp4`.
    static func numbered(_ name: String, _ number: Int) -> String {
        let (stem, ending) = split(name.unicodeScalars[...])
        return "\(String(stem)) (\(number))\(String(ending))"
    }

    private static func isReserved(_ name: String) -> Bool {
        var stem = name.unicodeScalars.prefix { $0 != "." }
        while stem.last == " " { stem.removeLast() }
        return reserved.contains(String(stem).lowercased()) || PartialFile.isOurs(name)
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Format characters can reverse text: a name that reads `exe.jpg` could have another extension.
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: !"<>:\"|?*\0".unicodeScalars.contains(scalar)
        }
    }

    /// A leading dot hides a file, and Windows drops trailing dots and spaces.
    private static func trimmed(_ name: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        var name = name.drop(while: isTrimmed)
        while let end = name.last, isTrimmed(end) { name.removeLast() }
        return name
    }

    private static func isTrimmed(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar.properties.generalCategory == .spaceSeparator
    }

    private static let maximumBytes = 200

    /// Keeps the extension, and doesn't divide a character if possible.
    private static func shortened(
        _ name: Substring.UnicodeScalarView, to limit: Int
    ) -> Substring.UnicodeScalarView {
        let whole = Substring(name)
        if whole.utf8.count <= limit { return name }
        let (stem, ending) = split(name)
        let room = limit - Substring(ending).utf8.count
        var start = String.UnicodeScalarView()
        var count = 0
        for character in Substring(stem) {
            let bytes = character.utf8.count
            if count + bytes > room { break }
            start.append(contentsOf: character.unicodeScalars)
            count += bytes
        }
        if start.isEmpty {
            for scalar in stem {
                count += UTF8.width(scalar)
                if count > room { break }
                start.append(scalar)
            }
        }
        start.append(contentsOf: ending)
        return start[...]
    }

    private static func split(
        _ name: Substring.UnicodeScalarView
    ) -> (stem: Substring.UnicodeScalarView, ending: Substring.UnicodeScalarView) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, Substring(name[dot...]).utf8.count <= 20 else {
            return (name, name[name.endIndex...])
        }
        return (name[..<dot], name[dot...])
    }

    private static let reserved: Set<String> = Set(
        ["con", "prn", "aux", "nul", "conin$", "conout$"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
            + ["¹", "²", "³"].flatMap { ["com\($0)", "lpt\($0)"] })
}
