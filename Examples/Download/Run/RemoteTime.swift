import Errand
import ErrandEssentials
import ErrandHTTPSyntax

/// The server's date on the file.
enum RemoteTime {
    /// Takes `Last-Modified` over to a file; returns why that is not possible. Blocks.
    static func keep(_ response: HTTPResponse, _ path: String) -> String? {
        guard let date = response.headers["Last-Modified"].flatMap({ HTTPDate.parse($0) }) else {
            return "the server sends no date for the file"
        }
        do { try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path) } catch {
            return "the date of the file cannot be set"
        }
        return nil
    }
}
