public import ErrandEssentials
import Synchronization

/// A kind of failure as people are told about it: one short sentence, in English and Simplified Chinese.
///
/// It is what `localizedDescription` of a ``DescribedError`` returns, without a URL, a number or the name of a type. An
/// app that wants other words, or other languages, sets ``provider`` once at its launch.
///
/// ```swift
/// FailureSentence.provider = { error, sentence in
///     sentence == .unreachable ? "You seem to be offline." : nil
/// }
/// ```
///
/// A plugin chooses a sentence for each of its errors by ``DescribedError/failureSentence``, and may make its own.
public struct FailureSentence: Hashable, Sendable {
    /// The name of the kind, stable: a key for an app's own texts.
    public let name: String
    private let english: String
    private let simplifiedChinese: String

    /// Creates a sentence; no other kind of failure has its name.
    public init(_ name: String, english: String, simplifiedChinese: String) {
        (self.name, self.english, self.simplifiedChinese) = (name, english, simplifiedChinese)
    }

    /// Returns the sentence in the first of these languages that it has, and in English without any.
    ///
    /// - Parameter languages: BCP 47 identifiers in the order of preference; by default those that the user prefers.
    public func text(preferring languages: [String] = Locale.preferredLanguages) -> String {
        for language in languages {
            let subtags = language.lowercased().split { $0 == "-" || $0 == "_" }
            if subtags.first == "en" { return english }
            guard subtags.first == "zh" else { continue }
            // Without a script, the region says which one its people read.
            let isTraditional = ["hant", "tw", "hk", "mo"].contains { subtags.contains($0[...]) }
            if subtags.contains("hans") || !isTraditional { return simplifiedChinese }
        }
        return english
    }

    /// Whether the names are the same.
    public static func == (a: FailureSentence, b: FailureSentence) -> Bool { a.name == b.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension FailureSentence {
    /// Returns the app's own text for an error, or nil for the text that the error has anyway.
    public typealias Provider = @Sendable (_ error: any Error, _ sentence: FailureSentence) -> String?

    // Of the process, because `localizedDescription` takes no argument.
    private static let ownTexts = Mutex<Provider?>(nil)

    /// The app's own texts, of the whole process; nil by default. It is asked on the thread that asks for a
    /// `localizedDescription`, and before a message of the service is used. For a failed batch or chain, it gets the
    /// error of the part.
    public static var provider: Provider? {
        get { ownTexts.withLock { $0 } }
        set {
            let old = ownTexts.withLock { texts in
                let old = texts
                texts = newValue
                return old
            }
            withExtendedLifetime(old) {}
        }
    }

    /// Returns the text for an error of this kind: the app's own, else the message of the service if there is one, else
    /// the sentence.
    public func text(for error: any Error, message: String? = nil) -> String {
        if let own = Self.provider?(error, self) { return own }
        if let message, message.contains(where: { !$0.isWhitespace }) { return message }
        return text()
    }

    /// Returns the text for people of any error, as `localizedDescription` does for those of Errand. An error that has
    /// no text gets that of ``failed``.
    public static func text(of error: any Error) -> String {
        (error as? any LocalizedError)?.errorDescription ?? failed.text(for: error)
    }
}

extension FailureSentence {
    /// There is no connection to the server.
    public static let unreachable = FailureSentence(
        "unreachable", english: "The server couldn't be reached.", simplifiedChinese: "无法连接到服务器。")
    /// The connection failed while in use.
    public static let connectionLost = FailureSentence(
        "connectionLost", english: "The connection was lost.", simplifiedChinese: "网络连接已中断。")
    /// The response took too long.
    public static let timedOut = FailureSentence(
        "timedOut", english: "The server took too long to respond.", simplifiedChinese: "服务器响应超时。")
    /// The server isn't trusted.
    public static let insecureConnection = FailureSentence(
        "insecureConnection", english: "A secure connection couldn't be made.", simplifiedChinese: "无法建立安全连接。")
    /// The response isn't what was expected.
    public static let unusableResponse = FailureSentence(
        "unusableResponse", english: "The server's response couldn't be used.", simplifiedChinese: "服务器返回的内容无法使用。")
    /// There are more bytes than allowed.
    public static let tooLarge = FailureSentence(
        "tooLarge", english: "The data is too large.", simplifiedChinese: "数据过大。")
    /// The service has too much to do.
    public static let busy = FailureSentence(
        "busy", english: "The service is busy; try again later.", simplifiedChinese: "服务繁忙，请稍后重试。")
    /// The service failed.
    public static let serviceFailed = FailureSentence(
        "serviceFailed", english: "The service has a problem.", simplifiedChinese: "服务出现问题。")
    /// Nobody is signed in.
    public static let signInRequired = FailureSentence(
        "signInRequired", english: "You need to sign in.", simplifiedChinese: "请先登录。")
    /// The user may not do this.
    public static let notAllowed = FailureSentence(
        "notAllowed", english: "You don't have permission for this.", simplifiedChinese: "你没有权限执行此操作。")
    /// The service doesn't have it.
    public static let notFound = FailureSentence(
        "notFound", english: "This couldn't be found.", simplifiedChinese: "找不到所请求的内容。")
    /// The service doesn't accept the request.
    public static let refused = FailureSentence(
        "refused", english: "The service refused the request.", simplifiedChinese: "服务拒绝了此请求。")
    /// It was cancelled, which is no failure.
    public static let cancelled = FailureSentence(
        "cancelled", english: "This was cancelled.", simplifiedChinese: "操作已取消。")
    /// Another user has signed in meanwhile.
    public static let userChanged = FailureSentence(
        "userChanged", english: "Another user has signed in.", simplifiedChinese: "已有其他用户登录。")
    /// A file can't be used.
    public static let fileFailed = FailureSentence(
        "fileFailed", english: "A file couldn't be read or written.", simplifiedChinese: "无法读取或写入文件。")
    /// The device is full.
    public static let noSpace = FailureSentence(
        "noSpace", english: "There isn't enough free space.", simplifiedChinese: "存储空间不足。")
    /// There is no copy on the device.
    public static let notStored = FailureSentence(
        "notStored", english: "Nothing is stored on this device.", simplifiedChinese: "此设备上没有已存储的内容。")
    /// The same is going on already.
    public static let alreadyRunning = FailureSentence(
        "alreadyRunning", english: "This is already in progress.", simplifiedChinese: "此操作正在进行中。")
    /// Anything else, such as a mistake in the app.
    public static let failed = FailureSentence(
        "failed", english: "Something went wrong.", simplifiedChinese: "操作失败。")

    /// Returns the sentence for a status that the request doesn't accept.
    public static func status(_ status: Int) -> FailureSentence {
        switch status {
        case 401: .signInRequired
        case 403: .notAllowed
        case 404, 410: .notFound
        case 408, 504: .timedOut
        case 413: .tooLarge
        case 429, 503: .busy
        case 400...499: .refused
        case 500...599: .serviceFailed
        default: .unusableResponse
        }
    }
}

extension ErrandError {
    /// The sentence of the code, and for a status that the request doesn't accept, that of the status.
    public var failureSentence: FailureSentence {
        switch code {
        case .cancelled, .activityEnded: .cancelled
        case .timedOut, .deadlineExceeded: .timedOut
        case .nameLookupFailed, .cannotConnect: .unreachable
        case .connectionLost, .truncated: .connectionLost
        case .insecureConnection: .insecureConnection
        case .bodyTooLarge: .tooLarge
        case .fileFailed: .fileFailed
        case .userChanged: .userChanged
        case .unacceptableStatus: .status(response?.status ?? 0)
        case .invalidResponse, .redirectFailed, .unacceptableContentType, .checkFailed, .decodingFailed:
            .unusableResponse
        default: .failed
        }
    }

    /// The text for people: for a failed check that of its own error, if it has one.
    public var errorDescription: String? {
        if code == .checkFailed, let text = (underlying as? any LocalizedError)?.errorDescription { return text }
        return failureSentence.text(for: self)
    }
}
