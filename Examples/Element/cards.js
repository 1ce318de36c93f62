const chat = document.querySelector('martlet-messenger'), told = document.querySelector('#told');
const shop = { id: 'shop', name: 'Shop' };

// The element is of this page and may be changed at any time; the frame shows what stands in it, and no script of this page runs there.
chat.register('order', (order, element) => {
  element.style.cssText = 'padding: 12px; min-width: 220px; border-inline-start: 4px solid var(--mg-accent)';
  element.innerHTML = '<strong></strong><p></p><button></button>';
  const [title, pieces, more] = element.children;
  pieces.style.margin = '4px 0';
  more.style.color = 'var(--mg-accent)';
  let count = order.count;
  const show = () => {
    title.textContent = order.name;
    pieces.textContent = `${count} pieces`;
    more.textContent = 'One more';
    told.value = `${order.name}: ${count}`;
  };
  more.addEventListener('click', () => { count++; show(); });
  show();
  return () => { told.value = `${order.name} left the view`; };
});

globalThis.order = (name, count) => chat.add({ sender: shop, custom: { kind: 'order', data: { name, count }, text: `Order: ${name}` } });
globalThis.row = await globalThis.order('Beans', 2);
