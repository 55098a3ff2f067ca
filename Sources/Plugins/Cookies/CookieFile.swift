public import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// A cookie file in curl's Netscape format: one cookie per line, seven fields separated by tabs.
struct CookieFile: Sendable {
    private let path: String
    /// The maximum size of a file in bytes.
    private static let limit = 32 << 20

    init(_ url: URL) { path = url.path }

    /// Reads the cookies. Blocks the thread.
    func read() throws(CookieFileError) -> [Cookie] {
        let data: Data
        do {
            // Only a missing file counts as empty. If other failures counted as empty, the next write would replace
            // cookies that couldn't be read.
            guard let size = try size() else { return [] }
            guard size <= Int64(Self.limit) else { throw failure("the file is longer than \(Self.limit) bytes", true) }
            data = try SystemFile(path, [.read, .onlyRegular]).read(Int(size), at: 0)
        } catch let error as CookieFileError { throw error } catch { throw failure("\(error)", true) }
        return data.split(separator: UInt8(ascii: "\n")).compactMap(Self.cookie)
    }

    private func size() throws(SystemFile.Failure) -> Int64? {
        do { return try SystemFile.size(of: path) } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// Writes the cookies, except expired ones. Blocks the thread.
    func write(_ cookies: [Cookie], at date: Date) throws(CookieFileError) {
        do { try SystemFile.replace(path, with: Self.text(of: cookies, at: date)) } catch {
            throw failure("\(error)", false)
        }
    }

    private func failure(_ reason: String, _ isReading: Bool) -> CookieFileError {
        CookieFileError(path: path, reason: reason, isReading: isReading)
    }

    private static let head = """
        # Netscape HTTP Cookie File
        # https://curl.se/docs/http-cookies.html
        # This file holds secrets.


        """

    static func text(of cookies: [Cookie], at date: Date) -> Data {
        var data = Data(head.utf8)
        for cookie in cookies where !cookie.isExpired(at: date) {
            let fields = [
                (cookie.isHTTPOnly ? "#HttpOnly_" : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
                cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
                "\(cookie.expiry.map { Int64(exactly: $0.timeIntervalSince1970.rounded(.up)) ?? .max } ?? 0)",
                cookie.name,
                cookie.value,
            ]
            // The format can't escape a tab.
            if fields.contains(where: { $0.utf8.contains(0x09) }) { continue }
            let line = fields.joined(separator: "\t") + "\n"
            let latin1 = line.unicodeScalars.map { UInt8(exactly: $0.value) }
            if cookie.isLatin1, !latin1.contains(nil) {
                data.append(contentsOf: latin1.compactMap(\.self))
            } else {
                data.append(contentsOf: line.utf8)
            }
        }
        return data
    }

    static func cookie(_ line: Data) -> Cookie? {
        var bytes = line[...]
        if bytes.last == UInt8(ascii: "\r") { bytes = bytes.dropLast() }
        let utf8 = String(validating: bytes, as: UTF8.self)
        var text = (utf8 ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })))[...]
        let isHTTPOnly = text.hasPrefix("#HttpOnly_")
        if isHTTPOnly { text = text.dropFirst("#HttpOnly_".count) } else if text.hasPrefix("#") { return nil }
        var fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        // Some writers omit an empty last field.
        if fields.count == 6 { fields.append("") }
        guard fields.count == 7, let seconds = seconds(fields[4]) else { return nil }
        var cookie = Cookie(
            fields[5], fields[6], domain: fields[0], isHostOnly: !ASCII.equalsIgnoringCase(fields[1], "TRUE"),
            path: fields[2], expiry: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds)),
            isSecure: ASCII.equalsIgnoringCase(fields[3], "TRUE"), isHTTPOnly: isHTTPOnly)
        cookie.isLatin1 = utf8 == nil
        return cookie
    }

    /// Parses the expiry of a cookie. Python writes an empty field for session cookies, and browser extensions write a
    /// fraction.
    private static func seconds(_ field: String) -> Int64? {
        if field.isEmpty { return 0 }
        let digits = field.utf8.prefix(while: ASCII.isDigit)
        let rest = field.utf8[digits.endIndex...]
        let isFraction = rest.first == UInt8(ascii: ".") && rest.dropFirst().allSatisfy(ASCII.isDigit)
        return rest.isEmpty || isFraction ? ASCII.digits(Substring(digits)) : nil
    }
}

/// The error that a jar throws if its file can't be read or written.
public struct CookieFileError: Error, Sendable, Hashable {
    /// The path of the file.
    public let path: String
    /// The reason in one sentence, for example the system's message.
    public let reason: String
    /// Whether reading failed, rather than writing.
    public let isReading: Bool
}

extension CookieFileError: DescribedError {
    /// The path and the reason, without cookies.
    public var description: String {
        "the cookies in \(path) could not be \(isReading ? "read" : "written"): \(reason)"
    }

    /// The code of the `NSError`: 1 if reading failed, 2 if writing failed.
    public var errorCode: Int { isReading ? 1 : 2 }
}

extension CookieFileError {
    /// The sentence that users see as `localizedDescription`.
    public var failureSentence: FailureSentence { .fileFailed }
}
