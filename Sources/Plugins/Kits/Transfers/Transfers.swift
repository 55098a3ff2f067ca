// What uploads and downloads share: meter, events, pause, records, the budget of descriptors. Within the package only.
