// Keeps the page's own files for the time without a network (sw.js).

if ('serviceWorker' in navigator) {
  navigator.serviceWorker.register('sw.js', { updateViaCache: 'none' }).catch(error => {
    // Private windows and plain HTTP addresses have none: the page then needs the network to open.
    console.info('No offline copy:', error.message);
  });
}
