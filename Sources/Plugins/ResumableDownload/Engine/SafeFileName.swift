import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

enum SafeFileName {
    /// Returns a name for a file: the server's suggestion, the last component of the URL's path, or "download".
    static func choose(disposition: String?, url: URL) -> String {
        if let name = disposition.map(ContentDisposition.init(parsing:))?.fileName.flatMap(clean) { return name }
        let segment = url.path(percentEncoded: true).split(separator: "/").last ?? ""
        return clean(decoded(segment)) ?? "download"
    }

    /// Decodes a path component. If its bytes aren't valid UTF-8, decodes them as Latin-1.
    private static func decoded(_ segment: Substring) -> String {
        guard let bytes = PercentEncoding.bytes(segment) else { return String(segment) }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    /// Returns a safe name of at most 200 UTF-8 bytes, or nil if the name doesn't contain a usable character. Compares
    /// Unicode scalars as file systems do, not characters. For example, a dot with an accent is a leading dot.
    static func clean(_ name: String) -> String? {
        let last = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? ""[...].unicodeScalars
        var scalars = String.UnicodeScalarView()
        for scalar in last where isAllowed(scalar) { scalars.append(scalar) }
        let text = fitted(scalars, to: maximumBytes)
        if text.isEmpty { return nil }
        return isReserved(text) ? "_" + fitted(text.unicodeScalars, to: maximumBytes - 1) : text
    }

    /// Trims and shortens a name until neither step changes it. Both steps are repeated because a shortened name may
    /// have to be trimmed, and a trimmed name may have to be shortened.
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
        // Format characters can reverse the direction of text, so a name with another extension looks like `exe.jpg`.
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: !"<>:\"|?*\0".unicodeScalars.contains(scalar)
        }
    }

    /// Removes dots and spaces at both ends. A leading dot hides a file, and Windows drops trailing dots and spaces.
    private static func trimmed(_ name: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        var name = name.drop(while: isTrimmed)
        while let end = name.last, isTrimmed(end) { name.removeLast() }
        return name
    }

    private static func isTrimmed(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "." || scalar.properties.generalCategory == .spaceSeparator
    }

    private static let maximumBytes = 200

    /// Shortens a name but keeps its extension. Doesn't divide a character if possible.
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
