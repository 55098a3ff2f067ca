#if os(Linux) || os(Android)
import ErrandSupport

enum SystemAuthorities: Equatable {
    case builtIn
    case file(String)
    /// A directory in which the name of each certificate's file is the hash of its subject.
    case directory(String)

    /// Android's directories. Since Android 14, system modules update the first one.
    static let directories = ["/apex/com.android.conscrypt/cacerts", "/system/etc/security/cacerts"]
    /// The files of Debian, Fedora, openSUSE and Alpine.
    static let files = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// Chooses the authorities to trust. Android's directory comes first, then libcurl's built-in location, then the
    /// files of distributions, and the built-in directory comes last. If libcurl's built-in file is missing, libcurl
    /// rejects all servers, even with a directory.
    static func choose(file: String?, directory: String?, exists: (String) -> Bool) -> Self {
        if let android = directories.first(where: exists) { return .directory(android) }
        let place = directory.flatMap { exists($0) ? $0 : nil }
        if file.map(exists) ?? (place != nil) { return .builtIn }
        if let known = files.first(where: exists) { return .file(known) }
        return place.map(Self.directory) ?? .builtIn
    }

    static func ofSystem() -> Self {
        choose(
            file: CurlLibrary.authoritiesFile,
            directory: CurlLibrary.authoritiesDirectory
        ) { SystemCalls.isReadable($0) }
    }
}
#endif
