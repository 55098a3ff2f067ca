/// What an upload reports while it runs, whatever its output is.
enum UploadReport: Sendable {
    case progress(UploadProgress)
    case notice(UploadNotice)
}
