public import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// Cookies in the Netscape format, as curl reads and writes it: one line a cookie, seven fields between tabs.
struct CookieFile: Sendable {
    private let path: String
    /// The maximum number of bytes that are read.
    private static let limit = 32 << 20

    init(_ url: URL) { path = url.path }

    /// The cookies of the file, none where there is no file. Blocks.
    func read() throws(CookieFileError) -> [Cookie] {
        let data: Data
        do {
            guard SystemFile.attributes(at: path) != nil else { return [] }
            let size = try SystemFile.size(of: path)
            guard size <= Int64(Self.limit) else { throw failure("it is longer than \(Self.limit) bytes", true) }
            data = try SystemFile(path, [.read, .onlyRegular]).read(Int(size), at: 0)
        } catch let error as CookieFileError { throw error } catch { throw failure("\(error)", true) }
        return data.split(separator: UInt8(ascii: "\n")).compactMap(Self.cookie)
    }

    /// Writes cookies in place of what the file contains. Blocks.
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
            // A tab within a field cannot be distinguished from one between two.
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

    /// The cookie of a line; nil for a comment and for a line that is no cookie.
    static func cookie(_ line: Data) -> Cookie? {
        var bytes = line[...]
        if bytes.last == UInt8(ascii: "\r") { bytes = bytes.dropLast() }
        let utf8 = String(validating: bytes, as: UTF8.self)
        var text = (utf8 ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })))[...]
        let isHTTPOnly = text.hasPrefix("#HttpOnly_")
        if isHTTPOnly { text = text.dropFirst("#HttpOnly_".count) } else if text.hasPrefix("#") { return nil }
        var fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        // A cookie without a value may lack the field.
        if fields.count == 6 { fields.append("") }
        guard fields.count == 7, let seconds = ASCII.digits(fields[4]) else { return nil }
        var cookie = Cookie(
            fields[5], fields[6], domain: fields[0], isHostOnly: !ASCII.equalsIgnoringCase(fields[1], "TRUE"),
            path: fields[2], expiry: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds)),
            isSecure: ASCII.equalsIgnoringCase(fields[3], "TRUE"), isHTTPOnly: isHTTPOnly)
        cookie.isLatin1 = utf8 == nil
        return cookie
    }
}

/// A file of cookies that could not be read or written.
public struct CookieFileError: Error, Sendable, Hashable {
    /// The path of the file.
    public let path: String
    /// The reason, in a sentence, such as that of the system.
    public let reason: String
    /// Whether reading failed, and not writing.
    public let isReading: Bool
}

extension CookieFileError: DescribedError {
    /// The path and the reason; no cookie.
    public var description: String {
        "the cookies in \(path) could not be \(isReading ? "read" : "written"): \(reason)"
    }

    /// 1 for reading, 2 for writing.
    public var errorCode: Int { isReading ? 1 : 2 }
}

extension CookieFileError {
    /// The sentence for people.
    public var failureSentence: FailureSentence { .fileFailed }
}
